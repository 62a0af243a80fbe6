# Compiled by saftc from in.saft; edit that file instead.
from typing import Any


def clean(text: str) -> str:
    text = text.strip()
    return text.lower()


def reset(x: Any) -> int:
    x = 1
    return x + 1


print(clean(" A "), reset("anything"))
