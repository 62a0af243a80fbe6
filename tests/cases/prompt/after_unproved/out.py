# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import Result, check, prompt


def go(earlier: Any) -> str:
    return prompt("Go on.", after=check(earlier, Result[Any] | list[Any])).value


answer = prompt("Begin.")
kept: list[Result[Any]] = [answer]
print(go(kept[0]), go("text"))
