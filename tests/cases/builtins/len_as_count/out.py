# Compiled by saftc from in.saft; edit that file instead.

# how many items are equal to a value

from typing import Literal

from runtime_support.ops import read_line

Label = Literal["bug", "feature"]

labels: list[Label] = ["bug", "feature", "bug"]
wanted: Label = "feature"
words = "a b a".split(" ")
print(labels.count("bug"))
print(labels.count(wanted))
print(words.count("a".upper()), (1, 2).count(1))

# these are not: a NaN is no NaN, and what is compared has to be made again, or is no such item
numbers = [0.5, 1.5]
print(len([x for x in numbers if x == 0.5]))
print(len([x for x in words if x == words[0]]), len([x for x in words if x != "a"]))
print(
    len([word for word in words if word == read_line()]),
    len([w for w in words if w == w]),
)
print(
    len([w.upper() for w in words if w == "a"]),
    len([w for w in words if w == "a" and True]),
)
