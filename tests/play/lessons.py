"""The answers of the lessons, as a model would give them, and the recordings that are made of them.

    pytest tests/play/test_lessons.py --update-cases      records them anew
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from runtime_support import configure
from runtime_support.testing import Queued, Scripted, tool_request
from saftc.api import run_source
from tests.compiler.support import ROOT

TOUR = ROOT / "saftc" / "play" / "tour"
LESSONS = sorted(TOUR.glob("*.saft"))
# What lesson 10 reads.
TYPED = "Ada\n"

ANSWERS: dict[str, list[Queued]] = {
    "lesson01_prompt": ["Bartholomew"],
    "lesson02_types": ["2", {"name": "Ada", "age": 36}],
    "lesson03_records": [
        {"title": "Wrong invoice", "severity": "medium"},
        {"title": "Server on fire", "severity": "high"},
    ],
    "lesson04_conditions": ["true"],
    "lesson05_tools": [
        [tool_request("price_of", drink="tea"), tool_request("price_of", drink="coffee")],
        "7.5",
    ],
    "lesson06_concurrent": [
        "late parcel",
        "We are looking for your parcel and will tell you today where it is.",
        "broken lamp",
        "We are sorry about the lamp: a new one is on its way.",
        "missing invoice",
        "Your invoice is on its way to you once more.",
        "kind thanks",
        "You are very welcome!",
    ],
    "lesson07_conversation": ["Lisbon", "For the light on the river, the trams and the fish."],
    "lesson08_failures": ["969"],
    "lesson09_program": [{"refund": {"order": "A17"}}],
    "lesson10_your_data": ["You can now ask a model a question in the middle of a line of code."],
}


def record(lesson: Path) -> None:
    """Writes the recording of a lesson, from its answers."""
    target = lesson.with_suffix(".jsonl")
    target.unlink(missing_ok=True)
    command = [sys.executable, "-m", "tests.play.lessons", str(lesson)]
    environment = {**os.environ, "SAFT_RECORD": str(target), "PYTHONPATH": str(ROOT)}
    subprocess.run(command, input=TYPED, text=True, check=True, cwd=ROOT, env=environment)
    lines = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        line["reply"]["model"] = "recorded"
    text = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    target.write_text(text, encoding="utf-8")


def main(lesson: Path) -> None:
    """Runs a lesson in order, answered as `ANSWERS` says."""
    model: Any = Scripted(ANSWERS[lesson.stem])
    with configure(provider=model, max_in_flight=1):
        run_source(lesson.read_text(encoding="utf-8"))
    assert not model.replies, model.replies


if __name__ == "__main__":
    main(Path(sys.argv[1]))
