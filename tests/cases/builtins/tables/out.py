# Compiled by saftc from in.saft; edit that file instead.

# polars itself where the types prove it, `ops` where they do not

from runtime_support import ops
from runtime_support.ops import parse, read, show

players = read("players.csv")
print(players)
print(
    show(players.shape),
    players.shape[0],
    show(players.columns),
    players.height,
    players.height,
)
print(players.head(), players.head(3), players.head(2))
print(
    ops.select(players, "name"),
    ops.select(players, ["name", "goals"]),
    ops.select(players, ("name",)),
)

names = [name for name in players.columns if name.startswith("g")]
print(ops.select(players, names))

# what polars would take for a pattern
print(ops.select(players, ["*"]), ops.select(players, "^g.*$"))

# a dataframe is equal as a whole
print(
    show(ops.eq(players, players)),
    show(ops.is_in(players, [players])),
    show(players is not None),
)

anything = parse("1")
print(
    show(ops.shape(anything)),
    show(ops.columns(anything)),
    ops.head(anything, 2),
    ops.select(anything, names),
)
print(ops.len(anything), ops.read(anything), ops.select(players, anything))

tools = [ops.shape, ops.columns, ops.head, ops.select, ops.read]
print(len(tools))
