# Compiled by saftc from in.saft; edit that file instead.
from typing import Literal

from runtime_support import overlap, prompt
from runtime_support.ops import list_files, print, read_text  # print keeps the order


def triage(mail: str) -> Literal["billing", "other"]:
    return prompt(
        "Which queue? {mail}",
        mail=mail,
        returns=Literal["billing", "other"],
    ).value


queues = {"billing": "Ann", "other": "Bob"}


def ask_path(path: str) -> tuple[str, Literal["billing", "other"]]:
    # what it says
    mail = read_text(path)  # all of it
    queue = triage(mail)
    return path, queue


for path, queue in overlap(ask_path, list_files("mails/*.txt")):
    # in order from here on
    if queue == "other":
        continue
    print(path, queues[queue])
    # the end of the loop


# all of it asks
def ask_word(item: tuple[int, str]) -> None:
    number, word = item
    if number == 0:
        return
    if prompt("Is {word} odd?", word=word).value == "yes":
        print(f"{word} is odd")


overlap(ask_word, enumerate(["one", "two"])).run()


def pairs(rows: list[tuple[str, int]]) -> int:
    total = 0

    def ask_name(item: tuple[str, int]) -> None:
        name, _ = item

        def ask_letter(letter: str) -> str:
            verdict = prompt("Is {letter} in {name}?", letter=letter, name=name).value
            return verdict

        for verdict in overlap(ask_letter, name.split(",")):
            print(verdict)

    for _ in overlap(ask_name, rows):
        total += 1

    def ask_name_2(item: tuple[str, int]) -> int:
        name, age = item
        older = prompt(
            "How old is {name} next to {age}?",
            name=name,
            age=age,
            returns=int,
        ).value
        return older

    for older in overlap(ask_name_2, rows):
        total = total + older
    return total


print(pairs([("a,b", 1)]))
