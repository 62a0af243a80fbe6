"""The examples on tables: exact figures, from wherever they are run."""

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def run(*command: str, cwd: Path) -> str:
    done = subprocess.run(
        [sys.executable, *command],
        cwd=cwd,
        env={**os.environ, "SAFT_PROVIDER": "mock"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.heavy
@pytest.mark.one_python
@pytest.mark.parametrize("name", ["highest_average", "scouting_report"])
def test_they_find_their_data_from_everywhere(name: str, tmp_path: Path) -> None:
    module, script = str(ROOT / "build" / f"{name}.py"), str(EXAMPLES / f"{name}.saft")
    printed = run(module, cwd=EXAMPLES)
    assert run("-m", "saftc", "run", script, cwd=ROOT) == printed
    assert run("-m", "saftc", "run", script, cwd=tmp_path) == printed


def test_the_highest_average_is_found_in_the_summary() -> None:
    results = pl.read_csv(EXAMPLES / "exams" / "results.csv")
    means = {name: results[name].mean() for name in results.columns[1:]}
    best = max(means, key=lambda name: means[name])
    lines = run(str(ROOT / "build" / "highest_average.py"), cwd=EXAMPLES).splitlines()
    assert [line for line in lines if ": " in line][1:] == [
        f"{name}: {round(mean, 2)}" for name, mean in means.items()
    ]
    said = lines[-1].split()[3].rstrip(",")
    told = "rightly" if said == best else f"but it is {best}"
    assert lines[-1] == f"the model says {said}, {told}"
    # The rows that a model sees would have said something else.
    sample = results.head(8)
    assert max(means, key=lambda name: sample[name].mean()) != best


def test_the_figures_of_the_report_are_exact() -> None:
    players = pl.read_csv(EXAMPLES / "scouting" / "players.csv")
    printed = run(str(ROOT / "build" / "scouting_report.py"), cwd=EXAMPLES)
    for figure in ("minutes", "goals", "assists", "rating"):
        average = round(players[figure].mean(), 2)
        lowest, highest = float(players[figure].min()), float(players[figure].max())
        assert f'- average {{figure: "{figure}"}} {average}\n' in printed
        assert f'{{"lowest":{lowest},"highest":{highest}}}\n' in printed
