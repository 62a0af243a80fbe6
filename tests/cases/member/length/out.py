# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import parse, show

xs = [1]
text = "abc"
pair = (1, 2)
row = {"id": 1}
named = {"length": 5}
data = parse("[]")
print(
    len(xs),
    len(text),
    len(pair),
    len(row),
    named["length"],
    show(ops.member(data, "length")),
)
