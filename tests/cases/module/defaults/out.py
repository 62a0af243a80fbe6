# Compiled by saftc from in.saft; edit that file instead.
"""Sorts mails."""

from typing import Literal

from runtime_support import defaults, prompt

defaults(
    model="gpt-5.6",
    stop=["END"],
    system='Be brief, and do not say "please".',
    temperature=0.5,
)


def sort(mail: str) -> Literal["spam", "work"]:
    return prompt("Sort {mail}.", mail=mail, returns=Literal["spam", "work"]).value


print(sort("hello"))
