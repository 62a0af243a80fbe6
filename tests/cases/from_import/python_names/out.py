# Compiled by saftc from in.saft; edit that file instead.
from math import floor as down
from math import pi
from textwrap import dedent

from runtime_support import check, ops, show

print(show(ops.add(pi, 1)), show(down(2.5)), show(dedent("  a")))
text: str = check(dedent("  a"), str)
