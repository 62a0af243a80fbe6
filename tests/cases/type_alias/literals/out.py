# Compiled by saftc from in.saft; edit that file instead.
from typing import Literal

from runtime_support import prompt
from runtime_support.ops import show

Label = Literal["bug", "feature", "question"]

label: Label = "bug"


def describe(label: Label) -> str:
    return "a " + label


answer: Label = prompt("which?", returns=Label).value
labels: list[Label] = ["bug", "feature"]
maybe: Label | None = None
print(describe(label), answer, show(labels), show(maybe))
