# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import parse

row = {"class": 1}
data = parse("{}")
print(row["class"], row["class"] + 1)
