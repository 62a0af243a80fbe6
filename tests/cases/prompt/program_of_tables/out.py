# Compiled by saftc from in.saft; edit that file instead.
import polars as pl
from runtime_support import later, program, together
from runtime_support.ops import mean, read


def load(name: str) -> pl.DataFrame:
    return read(name)


def average(table: pl.DataFrame, column: str) -> float:
    return mean(table, column)


goals, table = together(
    later(
        program,
        "What is the average of goals in p.csv? Use {load} and {average}.",
        load=load,
        average=average,
        returns=float,
    ),
    later(program, "Load p.csv with {load}.", load=load, returns=pl.DataFrame),
)
print(goals, table)
