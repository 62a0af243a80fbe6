# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import parse, show

text = "banana"
data = parse('"x"')
print(
    show(text.startswith("ba")),
    show(text.endswith("na")),
    show(ops.starts_with(data, "x")),
    show(ops.ends_with(text, data)),
)
if text.startswith("b") and not text.endswith("x"):
    print("yes")
print(show([ops.starts_with, ops.ends_with]))
