# Compiled by saftc from in.saft; edit that file instead.
from collections.abc import Callable

from runtime_support import ops, prompt
from runtime_support.ops import show

from factory import Job, identity, later, open_ended, repeat, scale


def count(x: int) -> str:
    return str(x)


def apply(change: Callable[[int], int], x: int) -> int:
    return change(x)


double = scale(2)
print(double(4) + 1, apply(double, 5))
again = repeat()
if again is not None:
    print(again("a", 3) + "b")
job = Job("a", count)
print(job.run(3) + "x", show(job.done))
for one in [scale(n) for n in range(3)]:
    print(one(10) - 1)
print(show(ops.call(open_ended(), 1, 2)), show(ops.call(identity(), 3)), show(later()))
print(prompt("What is twice 4? Use {double}.", double=double).value)
