# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import overlap, prompt
from runtime_support.ops import print  # print keeps the order


def names_of(topic: str) -> list[str]:
    return prompt(
        "Name people who have to do with {topic}.",
        topic=topic,
        returns=list[str],
    ).value


def explore(topic: str) -> None:
    def ask_name(name: str) -> None:
        print(prompt("Who is {name}?", name=name).value)

    overlap(ask_name, names_of(topic)).run()


def guess(secret: int) -> int:
    number = prompt("Guess a number.", returns=int).value
    return number if number == secret else guess(secret)


explore("boats")
guess(5)
while prompt("Shall we go on?", returns=bool).value:
    print("on")
