# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

good: list[str]
bad: list[str]
good, bad = [], []
for word in ["a", ""]:
    if word == "":
        bad = [*bad, word]
    else:
        good = [*good, word]
total: int | float
name: str | None
total, name = 0, None
total += 0.5
name = "a"
print(show(good), show(bad), total, name)
