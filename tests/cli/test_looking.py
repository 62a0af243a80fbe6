"""`saftc run --timeline`, `saftc trace --timeline`, and the page that tells of them."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from runtime_support._core import scopes as places
from runtime_support._core import spending
from runtime_support._journal import hook as keeping
from runtime_support._journal import json_lines as lines
from saftc.trace import timeline as timelines
from tests.cli.conftest import Command

Script = Callable[[str, str], Path]
ROOT = Path(__file__).parents[2]

TRIAGE = """\
f triage(mail: string) -> bool:
    ret $ is {mail} urgent? $
for mail in ["a fire", "an invoice"]:
    print(triage(mail))
"""


@pytest.fixture(autouse=True)
def new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timelines, "_here", timelines._OfProcess())
    monkeypatch.setattr(spending, "_of_process", spending.UsageMeter())
    monkeypatch.setattr(places, "_root", places.RunScope())
    monkeypatch.setattr(keeping, "_of_process", lines.OpenFiles())
    monkeypatch.setenv("SAFT_PROVIDER", "mock")


def commands() -> list[str]:
    page = (ROOT / "docs" / "looking.md").read_text(encoding="utf-8")
    # What stands above is of the page that `saftc play` serves until it is ended.
    page = page[page.index("## The timeline of a run") :]
    blocks = re.findall(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    return [line.partition("#")[0].strip() for block in blocks for line in block.splitlines()]


@pytest.mark.parametrize("line", commands())
def test_the_commands_of_the_page(line: str, saftc: Command, script: Script, folder: Path) -> None:
    script("triage.saft", TRIAGE)
    if "journal" in line:
        saftc("run", "triage.saft", "--journal", "monday.journal")
    words = shlex.split(line)
    if words[0] == "saftc":
        ended = saftc(*words[1:])
        assert ended.code == 0
        assert ("triage.saft:2:9" in ended.err) if "--verbose" in words else ended.err == ""
    else:
        assert saftc("-q", "build", "triage.saft").code == 0
        name, _, path = words[0].partition("=")
        environment = {**os.environ, name: path, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, *words[2:]]
        subprocess.run(command, env=environment, cwd=folder, check=True, capture_output=True)
    if "run.html" in line:
        page = Path("run.html").read_text(encoding="utf-8")
        assert page.startswith("<!doctype html>") and '"prompts": 2,' in page
        assert "ret $ is {mail} urgent? $" in page or words[0] != "saftc"
    elif "run.jsonl" in line:
        entries = Path("run.jsonl").read_text(encoding="utf-8").splitlines()
        assert len(entries) >= 4 and all(map(json.loads, entries))
    elif "trace.json" in line:
        events = json.loads(Path("trace.json").read_text(encoding="utf-8"))["traceEvents"]
        assert [one["name"] for one in events].count("request") == 2


def test_a_run_that_fails_is_drawn(saftc: Command, script: Script) -> None:
    script("a.saft", "print($ hello $)\nprint([1][2])\n")
    assert saftc("run", "a.saft", "--timeline", "run.html").code == 1
    assert '"prompts": 1,' in Path("run.html").read_text(encoding="utf-8")


def test_the_timeline_says_what_keeps_a_prompt_in_order(saftc: Command, script: Script) -> None:
    checked = 'for word in ["a"]:\n    print($ hello {word} $)\n    assert word != ""\n'
    script("b.saft", f"f greet():\n    {checked.replace(chr(10), chr(10) + '    ')}\n")
    script("a.saft", f"from b import greet\n{checked}greet()\n")
    assert saftc("run", "a.saft", "--timeline", "run.html").code == 0
    page = Path("run.html").read_text(encoding="utf-8")
    why = '"overlap": "in order, as `assert` may stop the script (line {}); move it to the head'
    assert why.format(4) in page
    assert page.count(why.format(4)) == 2


def test_the_timeline_names_the_functions_of_the_script(
    saftc: Command, script: Script, folder: Path
) -> None:
    """Those that a module has to run its loops ahead are not the script's."""
    script(
        "names.saft",
        "f class(word: string) -> string:\n"
        "    ret $ Say {word} $\n"
        "f each(words: [string]) -> [string]:\n"
        "    ret [$ Tell {word} and {word} $ for word in words]\n"
        'for word in ["a", "b"]:\n'
        "    x = $ Show {word} $\n"
        "    print(x, [class(one) for one in each([word])])\n",
    )
    saftc("run", "names.saft", "--timeline", "run.html")
    page = (folder / "run.html").read_text(encoding="utf-8")
    places = json.loads(page.partition('id="run">')[2].partition("</script>")[0])["places"]
    found = {one["line"].partition("$ ")[2].split()[0]: one.get("function") for one in places}
    assert found == {"Show": None, "Tell": "each", "Say": "class"}


def test_a_run_without_prompts_is_drawn_over_an_older_one(saftc: Command, script: Script) -> None:
    script("a.saft", 'print("hello")\n')
    Path("run.html").write_text("an older run")
    ended = saftc("run", "a.saft", "--timeline", "run.html", "--chrome", "trace.json")
    assert (ended.code, ended.out, ended.err) == (0, "hello\n", "")
    assert '"prompts": 0,' in Path("run.html").read_text(encoding="utf-8")
    assert json.loads(Path("trace.json").read_text(encoding="utf-8"))["traceEvents"] == []


@pytest.mark.parametrize("option", ["--timeline", "--chrome", "--log"])
def test_a_script_is_not_begun_when_the_run_could_not_be_written(
    option: str, saftc: Command, script: Script
) -> None:
    script("a.saft", "print($ hello $)\n")
    what = "log" if option == "--log" else "timeline"
    ended = saftc("run", "a.saft", option, "nowhere/run")
    assert (ended.code, ended.out) == (2, "")
    reason = "there is no folder nowhere; name another file"
    assert ended.err == f"saftc: cannot write the {what} nowhere/run: {reason}\n"


def test_what_cannot_be_read_or_written(saftc: Command, script: Script) -> None:
    script("a.saft", "print($ hello $)\n")
    ended = saftc("trace", "a.saft", "--timeline", "run.html")
    assert (ended.code, ended.err) == (1, "saftc: a.saft is not a journal; name another file\n")
    assert not Path("run.html").exists()
    saftc("run", "a.saft", "--journal", "a.journal")
    ended = saftc("trace", "a.journal", "--timeline", "nowhere/run.html", "--chrome", "trace.json")
    assert ended.code == 1 and Path("trace.json").exists()
    assert ended.err.startswith("saftc: cannot write the timeline nowhere/run.html: ")


# OpenTelemetry


@pytest.mark.parametrize(("more", "failed"), [("", None), ('fail "no more"\n', "Failed")])
def test_a_run_is_a_span(
    saftc: Command, script: Script, monkeypatch: pytest.MonkeyPatch, more: str, failed: str | None
) -> None:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    script("triage.saft", TRIAGE + more)
    assert saftc("run", "triage.saft").code == (failed is not None)
    spans = {span.name.partition(":")[0]: span for span in exporter.get_finished_spans()}
    run, asked = spans["invoke_workflow triage.saft"], spans["invoke_agent triage.saft"]
    assert asked.parent is not None and asked.parent.span_id == run.context.span_id
    about = {"gen_ai.operation.name": "invoke_workflow", "gen_ai.agent.name": "triage.saft"}
    assert dict(run.attributes or {}) == about | ({} if failed is None else {"error.type": failed})
