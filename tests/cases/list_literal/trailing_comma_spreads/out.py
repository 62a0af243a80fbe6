# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

verbs = [
    "build",
    "test",
]
short = [
    "a",
    "b",
]
print(show(verbs), show(short))
