# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import parse, show

text = "banana"
data = parse('"x"')
print(text.replace("a", "o"), ops.replace(data, "a", "o"))
print(
    show("an" in text),
    show(2 in [1, 2]),
    show("id" in {"id": 1}),
    show(ops.contains(data, "x")),
    show(ops.contains([True], 1)),
)
print(show([ops.replace, ops.contains]))
