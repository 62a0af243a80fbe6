# Compiled by saftc from in.saft; edit that file instead.
import polars as pl
from runtime_support import ops, prompt
from runtime_support.ops import mean, read

players = read("players.csv")


def average(column: str) -> float:
    """The exact average of a column."""
    return mean(players, column)


def part(names: list[str]) -> pl.DataFrame:
    """The rows with the names."""
    return ops.select(players, names)


report = prompt(
    "Who of {players} is best? Use {average} and {part}.",
    players=players,
    average=average,
    part=part,
    rounds=1,
).value
print(report)
