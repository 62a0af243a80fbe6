# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import approve, prompt

rate = 2


def settle(order: str, note: str) -> str:
    def pay() -> str:
        return order

    def ask_first() -> str:
        return pay()

    def log(text: str) -> None:
        print(rate, text)

    print(prompt("Pay {order} with {pay}.", order=order, pay=pay).value)
    print(prompt("Pay {note} with {pay}.", note=note, pay=pay).value)
    print(
        prompt(
            "Pay it with {pay}.", pay=pay, options={"system": f"You pay {order}."}
        ).value
    )
    history = prompt("Pay it with {log}.", log=log)
    print(prompt("Pay it.", after=history, tools=[*history.tools, pay]).value)
    print(prompt("Pay it with {pay}.", pay=approve(pay)).value)
    print(prompt("Pay it.", tools=[log, pay]).value)
    return prompt("Pay it with {log}.", log=log).value


for order in ["A", "B"]:

    def pay() -> str:
        return order

    print(prompt("Pay it with {pay}.", pay=pay).value)


def all(orders: list[str]) -> None:
    def note(order: str) -> None:
        print(rate, order)

    for order in orders:

        def pay() -> str:
            return order

        print(
            prompt(
                "Pay it with {pay}, and note that with {note}.", pay=pay, note=note
            ).value
        )


def one(order: str) -> str:
    def inner() -> str:
        return order

    def outer() -> str:
        return inner()

    return prompt("Pay it with {outer}.", outer=outer).value


print(settle("A", "B"), one("C"))
all([])
