# Compiled by saftc from scouting_report.saft; edit that file instead.

# A scouting report with exact figures: the model sees a summary of the table, so every figure has to
# come from a tool. The compiled module is run in this folder, too.

from typing import Literal, TypedDict

from runtime_support import check, ops, prompt
from runtime_support.ops import mean, read, show

Figure = Literal["minutes", "goals", "assists", "rating"]

players = read("scouting/players.csv")


def average(figure: Figure) -> float:
    """The exact average of a figure over all players."""
    return round(mean(players, figure), 2)


class Extremes(TypedDict):
    lowest: float
    highest: float


def extremes(figure: Figure) -> Extremes:
    """The lowest and the highest value of a figure."""
    return {
        "lowest": check(ops.min(players, figure), float),
        "highest": check(ops.max(players, figure), float),
    }


report = prompt(
    """
    Write a scouting report of three sentences on these players: {players}

    The summary has only the first of them. Take every figure from {average} and {extremes}.
    """,
    players=players,
    average=average,
    extremes=extremes,
    options={"max_tool_rounds": 16},
)

print(report.value)

if len(report.tool_calls) <= 0:
    raise AssertionError("a report without exact figures")
print("\nThe figures, as the tools gave them:")
for call in report.tool_calls:
    print(
        f"- {call.tool}",
        show(call.args),
        show(call.result if call.error is None else call.error),
    )
