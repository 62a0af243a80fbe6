# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import mean, parse, read, show

players = read("players.csv")
print(ops.sum(players, "goals") + 1, mean(players, "goals") / 2)
print(
    show(ops.min(players, "name")),
    show(ops.eq(ops.max(players, "goals"), 3)),
    mean(players, "goals"),
)
print(ops.sum(players, "goals"), show(ops.max(players, "goals")))

# of lists
print(mean([1, 2.5]), sum([1, 2]), min(1, 2), max(["a", "b"]))

anything = parse("[1, 2]")
print(
    ops.mean(anything),
    ops.mean(anything, "goals"),
    ops.sum(anything, "goals"),
    show(ops.max(anything, "goals")),
)
print(ops.sum(players, anything), show(ops.min(anything, "goals")))

average = ops.mean
print(ops.call(average, players, "goals"))
