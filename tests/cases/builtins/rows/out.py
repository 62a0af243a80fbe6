# Compiled by saftc from in.saft; edit that file instead.

# a table's rows as objects, and its columns as lists

from typing import Any

import polars as pl
from runtime_support import check, ops
from runtime_support.ops import read, show

players = read("players.csv")
for player in players.iter_rows(named=True):
    print(show(player["name"]), show(player["goals"]))
print(
    show(
        [
            player["name"]
            for player in players.iter_rows(named=True)
            if ops.gt(player["goals"], 3)
        ]
    ),
    show(players.to_dicts()),
    len(players.to_dicts()),
)
print(
    show(ops.index(players, "name")),
    show(ops.sum(ops.index(players, "goals"))),
    show([ops.mul(goals, 2) for goals in ops.index(players, "goals")]),
)
for player in players.head(3).iter_rows(named=True):
    print(show(player))


def goals(player: dict[str, Any]) -> Any:
    return player["goals"]


print(
    show(ops.sorted(players.to_dicts(), by=goals)),
    show(ops.max(players.to_dicts(), by=goals)),
)
column = "goals"
print(
    show(ops.index(players, column)),
    show(any([ops.gt(goals, 3) for goals in ops.index(players, column)])),
)


def names(table: pl.DataFrame) -> list[str]:
    return [check(row["name"], str) for row in table.iter_rows(named=True)]


def show_all(items: pl.DataFrame) -> list[dict[str, Any]]:
    for item in items.iter_rows(named=True):
        print(show(item))
    return items.to_dicts()


print(show(names(players)), show(show_all(players)))
