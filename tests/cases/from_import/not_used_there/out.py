# Compiled by saftc from in.saft; edit that file instead.
from beside import half, math, os

print(os.name, math.pi, half(3.0))
