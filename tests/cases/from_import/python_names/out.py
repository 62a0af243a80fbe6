# Compiled by saftc from in.saft; edit that file instead.
from math import floor as down
from math import pi
from textwrap import dedent

print(pi + 1, down(2.5), dedent("  a"))
text: str = dedent("  a")
