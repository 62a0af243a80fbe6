# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

pair = (
    1,
    "a",  # comment
)
print(show(pair))
