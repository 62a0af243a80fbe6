# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import parse

row = {"class": 1}
data = parse("{}")
print(row["class"], row["class"] + 1)
