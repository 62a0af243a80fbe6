# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import approve, prompt


def look(order: str) -> str:
    return order


# Which function it is, only the run knows.
def ask(act: Any) -> str:
    return prompt("Help Ada. Use {look} and {act}.", look=look, act=approve(act)).value


print(ask(look))
