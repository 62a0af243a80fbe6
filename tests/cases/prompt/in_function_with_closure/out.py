# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt


def make(topic: str) -> str:
    def ask() -> str:
        return prompt("about {topic}", topic=topic).value

    return ask()


print(make("x"))
