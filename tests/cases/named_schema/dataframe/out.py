# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass
from typing import Annotated, Any, TypedDict

import polars as pl
from runtime_support import check, ops
from runtime_support.ops import kind, mean, parse, read, show


class DescribeResult(TypedDict):
    rows: int
    average: float


def describe(
    players: Annotated[pl.DataFrame, "one row a player"], column: str = "goals"
) -> DescribeResult:
    """How many rows have goals."""
    return {"rows": players.height, "average": mean(players, column)}


def first(players: pl.DataFrame | None, others: list[pl.DataFrame]) -> pl.DataFrame:
    if players is not None:
        return players
    return others[0]


def largest(players: pl.DataFrame, column: str) -> Any:
    return ops.max(players.head(3), column)


def size(value: int | pl.DataFrame) -> int:
    if isinstance(value, pl.DataFrame):
        return value.height
    return value


def size_of_any(value: Any) -> int:
    if kind(value) == "dataframe":
        return value.height
    return 0


@dataclass(frozen=True)
class Team:
    name: str
    players: pl.DataFrame


team = Team("Oslo", read("oslo.csv"))
print(
    show(describe(team.players)),
    first(None, [team.players]),
    show(largest(team.players, "goals")),
)
print(size(3), size_of_any(team.players), show(ops.eq(team, team)))

loaded: pl.DataFrame = check(parse("1"), pl.DataFrame)
print(loaded)
