# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import prompt

text = "plain"
n: Any = "any"
x = prompt("{text:raw} and {n:raw} and {0:raw}", text + "b", text=text, n=n).value
