# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt


def double(x: int) -> int:
    return x * 2


def echo(x: str) -> str:
    return x


print(double(prompt("a number", returns=int).value))
print(echo(prompt("a text").value))
