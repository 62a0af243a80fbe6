# Compiled by saftc from in.saft; edit that file instead.
import json as j
import math

print(math.pi, math.floor(2.5), j.dumps([1]))
x = math.sqrt(4) + 1
