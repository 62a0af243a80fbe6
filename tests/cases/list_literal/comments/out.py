# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

verbs = [
    # the first
    "build",  # compiles
    "test",
    # none of it
    "ship",  # last
    # end
]
print(show(verbs))
