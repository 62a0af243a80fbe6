# Compiled by saftc from in.saft; edit that file instead.
"""Does one thing."""

from runtime_support import prompt

x = prompt("hello").value


def go() -> list[int]:
    return []
