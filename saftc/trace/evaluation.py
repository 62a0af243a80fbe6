"""Scores a function on labelled rows, for `saftc eval`.

`with_judge` adds to the script a function that calls the scored function and compares its result
with the expected value. `saftc map` calls this added function for each row.
"""

import hashlib
import inspect
import json
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runtime_support._journal.journal import time_text
from runtime_support._language.files import replace_file
from runtime_support._values.kinds import counted

if TYPE_CHECKING:
    from runtime_support.map import Report, Script

# In the report: the most labels of a confusion table (more do not fit a terminal), the most rows,
# and the most characters of a text.
_MOST_LABELS = 10
_MOST_ROWS = 20
_MOST_TEXT = 100


@dataclass(frozen=True)
class Scoring:
    """How rows are scored, as the options of `saftc eval` say.

    `expect` is the column of expected values, and `function` the script's function that compares
    them with results (`==` if None). `at_least` is the score that must be reached.
    """

    expect: str
    function: str | None = None
    models: tuple[str, ...] = ()
    at_least: float = float("-inf")


@dataclass(frozen=True)
class Evaluation:
    """The scored rows of one model, and the report of the job.

    A row has the keys `row`, `score` and `input`. It also has `found` and `expected`, or `error` if
    the row failed.
    """

    model: str
    rows: list[dict[str, Any]]
    report: "Report"

    @property
    def score(self) -> float:
        """The mean score of the rows.

        Without a scoring function, it is the share of correct rows.
        """
        return sum(row["score"] for row in self.rows) / len(self.rows)

    @property
    def shown(self) -> str:
        """The score as text."""
        right = sum(row["score"] >= 1 for row in self.rows)
        return f"{self.score:.1%} ({right} of {len(self.rows)})"

    def confusion(self) -> Counter[tuple[str, str]]:
        """The number of rows for each pair of expected and found label, without failed rows."""
        return Counter((row["expected"], row["found"]) for row in self.rows if "error" not in row)

    def data(self) -> dict[str, Any]:
        """The evaluation as data for JSON."""
        confusion = [[*pair, count] for pair, count in sorted(self.confusion().items())]
        whole = {"model": self.model, "score": self.score, **self.report.summary()}
        return {**whole, "confusion": confusion, "results": self.rows}


def judged(
    function: Callable[..., Any], score: Callable[..., Any] | None, expected: str
) -> Callable[..., str]:
    """Wraps a function for scoring.

    The wrapper has a further keyword parameter, named by `expected`, for the expected value. It
    returns a JSON text with the score, the result (`found`) and the expected value. Without
    `score`, a result scores 1 if it equals the expected value, and otherwise 0.
    """
    from runtime_support import ConfigError
    from runtime_support.ops import show

    signature = inspect.signature(function, eval_str=True)
    kind: Any = signature.return_annotation
    if score is not None:
        compared = list(inspect.signature(score, eval_str=True).parameters.values())
        if len(compared) != 2:
            had = counted(len(compared), "parameter")
            hint = "what was found, and what is expected"
            raise ConfigError(f"--score: `{score.__name__}` has {had}, and takes two", hint=hint)
        kind = compared[1].annotation
    more = inspect.Parameter(expected, inspect.Parameter.KEYWORD_ONLY, annotation=kind)
    taken = [*signature.parameters.values(), more]

    def case(*values: Any, **named: Any) -> str:
        label = named.pop(expected)
        given = {**dict(zip(signature.parameters, values, strict=False)), **named}
        told = {"input": {name: show(value) for name, value in given.items()}}
        found = function(*values, **named)
        points = found == label if score is None else score(found, label)
        if not isinstance(points, bool | int | float):
            raise TypeError(f"a score is a bool or a number, got {show(points)}")
        told |= {"score": float(points), "found": show(found), "expected": show(label)}
        return json.dumps(told)

    case.__name__ = function.__name__
    case.__annotations__ = {**{one.name: one.annotation for one in taken}, "return": str}
    vars(case)["__signature__"] = inspect.Signature(taken, return_annotation=str)
    return case


def with_judge(script: "Script", score: str | None) -> "tuple[Script, str]":
    """Adds to the script a function that scores a row.

    Returns the script, and the name of the parameter for the expected value.
    """
    *others, own = script.modules
    expected = "expected_value"
    while re.search(rf"\b{expected}\b", own.text):  # the name may be that of another parameter
        expected += "_"
    text = (
        f"{own.text}\n\nfrom saftc.trace.evaluation import judged\n\n"
        f"judged_case = judged({script.function}, {score}, {expected!r})\n"
    )
    modules = (*others, replace(own, text=text))
    return replace(script, modules=modules, function="judged_case"), expected


def read_rows(folder: Path, expected: str) -> list[dict[str, Any]]:
    """The rows of a finished job in the table's order. A failed row has the score 0."""
    from runtime_support.ops import show

    rows = list[dict[str, Any]]()
    for file in folder.glob("*-*.jsonl"):
        for one in map(json.loads, file.read_text(encoding="utf-8").split("\n")[:-1]):
            given = {name: show(it) for name, it in one.get("input", {}).items()}
            given.pop(expected, None)
            error = "error" in one and f"{one['error']}: {one['message']}"
            failed = error and {"input": given, "score": 0.0, "error": error}
            rows.append({"row": one["row"], **(failed or json.loads(one["result"]))})
    return sorted(rows, key=lambda row: row["row"])


class LastRun:
    """The last evaluation of a function on a table, and its unfinished jobs, stored in `.saft/`."""

    def __init__(self, root: Path, script: "Script", table: str, scoring: Scoring) -> None:
        self._table = digest_of(Path(table).read_text("latin-1") if Path(table).is_file() else "")
        self._script = script.digest
        self._folder = root / ".saft"
        called = [script.folder, script.modules[-1].name, script.function]
        compared = [str(Path(table).resolve()), scoring.expect, scoring.function]
        self._file = self._folder / f"eval-{digest_of(*called, *compared)}.json"
        self._jobs = list[Path]()

    def job(self, *settings: str) -> Path:
        """The output folder of a job, which the same command resumes until the evaluation ends."""
        self._folder.mkdir(parents=True, exist_ok=True)
        (self._folder / ".gitignore").write_text("*\n")
        job = self._file.with_suffix(f".{digest_of(self._script, self._table, *settings)}")
        self._jobs.append(job)
        return job

    def replace(self, evaluations: list[Evaluation], now: float) -> Iterator[str]:
        """Stores this evaluation as the last one, and removes the folders of its jobs.

        Yields lines about the changes since the previous evaluation.
        """
        scores = {one.model: [row["score"] for row in one.rows] for one in evaluations}
        this = {"script": self._script, "table": self._table, "time": now, "models": scores}
        last = json.loads(self._file.read_text()) if self._file.exists() else None
        replace_file(str(self._file), json.dumps(this).encode())
        for job in self._jobs:
            shutil.rmtree(job)
        if last is None:
            return
        changed = [f"another {name}" for name in ("script", "table") if this[name] != last[name]]
        if sorted(scores) != sorted(last["models"]):
            changed.append(f"another model (it was {', '.join(last['models'])})")
        told = " and ".join(changed) or "the same script, table and models"
        yield f"since {time_text(last['time'])}: {told}"
        for one in evaluations if this["table"] == last["table"] else ():
            before = last["models"].get(one.model)
            if before is None and len(last["models"]) == 1:
                (before,) = last["models"].values()
            told = list[str]()
            for row, score in zip(one.rows, before or (), strict=False):
                if row["score"] != score:
                    how = "better" if row["score"] > score else "worse"
                    told.append(f"  {one.model}, row {row['row']} is {how}: {_outcome(row)}")
            yield from _first(told)


def as_report(table: str, evaluations: list[Evaluation], *, has_labels: bool) -> Iterator[str]:
    """The lines of a report: a table with the models, then the wrong rows of each model."""
    yield f"{table}: {counted(len(evaluations[0].rows), 'row')}"
    rows = [["model", "score", "failed", "requests", "cost", "time"]]
    for one in evaluations:
        failed, requests = (f"{one.report.summary()[name]:,}" for name in ("failed", "requests"))
        cost, seconds = one.report.spent.cost_text or "unknown", f"{one.report.seconds:.1f} s"
        rows.append([one.model, one.shown, failed, requests, cost, seconds])
    yield from aligned(rows)
    for one in evaluations:
        wrong = [row for row in one.rows if row["score"] < 1]
        if wrong:
            yield f"\n{one.model}: {len(wrong)} not right"
            yield from _first([_with_input(row) for row in wrong])
        counts = one.confusion()
        labels = sorted({label for pair in counts for label in pair})
        if has_labels and wrong and 0 < len(labels) <= _MOST_LABELS:
            yield ""
            lines = [[one, *(str(counts[one, other]) for other in labels)] for one in labels]
            yield from aligned([["expected \\ found", *labels], *lines])


def aligned(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The lines of a table with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield "  ".join(cells).rstrip()


def digest_of(*texts: str | None) -> str:
    """A short digest of a list of texts."""
    return hashlib.sha256(repr(texts).encode()).hexdigest()[:12]


def _first(lines: list[str]) -> Iterator[str]:
    """The first of some lines, and a note about the lines that were left out."""
    yield from lines[:_MOST_ROWS]
    if len(lines) > _MOST_ROWS:
        yield f"  ... and {len(lines) - _MOST_ROWS} more, which --json has"


def _with_input(row: Mapping[str, Any]) -> str:
    """The outcome of a row, and below it the arguments of the row's call."""
    given = row["input"]
    shown = given.values() if len(given) == 1 else (f"{name}: {it}" for name, it in given.items())
    return f"  row {row['row']}: {_outcome(row)}\n    {_brief(', '.join(shown))}"


def _outcome(row: Mapping[str, Any]) -> str:
    if "error" in row:
        return _brief(row["error"])
    found, expected = _brief(row["found"]), _brief(row["expected"])
    return found if row["found"] == row["expected"] else f"{found}, expected {expected}"


def _brief(text: str) -> str:
    """A text on one line, truncated to fit a terminal."""
    line = " ".join(text.split())
    return line if len(line) <= _MOST_TEXT else f"{line[:_MOST_TEXT]}..."
