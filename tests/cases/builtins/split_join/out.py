# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import parse, show

text = "a,b c"
data = parse('["a"]')
words = text.split()
parts = text.split(",")
print(
    show(words),
    show(parts),
    "-".join(words),
    "-".join(words),
    "".join(words),
    ", ".join(["a", text]),
)
print(
    show(ops.split(ops.index(data, 0), ",")),
    ops.join(data, ","),
    ops.join(",", data),
    show(ops.split(text, ops.index(data, 0))),
)
print("+".join((text, "x")))
sep = ", "
print(sep.join(w.upper() for w in words), ops.join(words, sep + " "))
print(show([ops.split, ops.join]))
