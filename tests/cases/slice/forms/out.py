# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

xs = [1, 2, 3, 4]
text = "hello"
i = 1
print(
    show(xs[1:3]),
    show(xs[:2]),
    show(xs[2:]),
    show(xs[:]),
    text[1:],
    show(xs[-2:]),
    show(xs[:-1]),
    show(xs[i : i + 2]),
    text[len(text) - 2 :],
)
