"""A module's functions as the tools of an MCP server, asked by the package's own client."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from runtime_support import configure, prompt
from runtime_support._core.messages import Reply, Request
from runtime_support.errors import CheckError, ConfigError, RunWaiting
from runtime_support.mcp import _serving as serving
from runtime_support.testing import Scripted

MODULE = """
import threading
from typing import Annotated, TypedDict
from runtime_support import prompt
from runtime_support.mcp import server

docs = server("docs")
over = threading.Event()
print("at the top")


class Mail(TypedDict):
    subject: str
    urgent: bool


def judge(text: Annotated[str, "the mail"], strict: bool = False) -> Mail:
    'Tells how urgent a mail is.'
    print("inside")
    return {"subject": prompt("Sum up {text}.", text=text).value, "urgent": strict}


async def count(text: str) -> int:
    'Counts words.'
    print("inside")
    assert text, "there is no text"
    return len(text.split())


def search(query: str) -> str:
    'A tool of another server.'
    return docs.call("search", query=query, returns=str)


def bare(x: int) -> int:
    return x


def judge_all(texts: list[str]) -> int:
    'Judges many.'
    try:
        return len([prompt("Sum up {text}.", text=one).value for one in texts])
    finally:
        over.set()


async def judge_each(texts: list[str]) -> int:
    'Judges many, awaited.'
    try:
        return len([(await prompt.aio("Sum up {text}.", text=one)).value for one in texts])
    finally:
        over.set()
"""


@pytest.fixture(autouse=True)
def _no_module_stays() -> Iterator[None]:
    yield
    sys.modules.pop("triage", None)


@pytest.fixture
def module(tmp_path: Path) -> Path:
    path = tmp_path / "triage.py"
    path.write_text(MODULE)
    return path


def _loaded(path: Path) -> ModuleType:
    spec = spec_from_file_location("triage", path)
    assert spec is not None and spec.loader is not None
    made = sys.modules["triage"] = module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


KINDS = """
from datetime import date, timedelta
from decimal import Decimal
from typing import Literal


def optional(word: str | None = None) -> str | None:
    'Gives it back.'
    return word


def level() -> Literal["low", "high"]:
    'A level.'
    return "low"


def either(is_text: bool) -> str | int:
    'Seven.'
    return "7" if is_text else 7


def day(on: date) -> date:
    'Gives it back.'
    return on


def price(of: Decimal) -> Decimal:
    'Gives it back.'
    return of


def wait() -> timedelta:
    'An hour.'
    return timedelta(hours=1)


def leave() -> str:
    'Ends the program.'
    raise SystemExit(3)
"""


def test_a_result_is_the_value_and_not_what_its_text_looks_like(tmp_path: Path) -> None:
    path = tmp_path / "triage.py"
    path.write_text(KINDS)
    server = serving._server("triage", serving.offered(_loaded(path)), None)
    calls: list[tuple[str, dict[str, Any], Any]] = [
        ("optional", {"word": "null"}, "null"),
        ("optional", {}, None),
        ("level", {}, "low"),
        ("either", {"is_text": True}, "7"),
        ("either", {"is_text": False}, 7),
        ("day", {"on": "2026-01-31"}, "2026-01-31"),
        ("price", {"of": "1.50"}, "1.50"),
        ("wait", {}, "PT1H"),
    ]

    async def ask() -> None:
        async with Client(server) as client:
            left: Any = await client.call_tool("leave", {})
            assert left.is_error and left.content[0].text == "it has ended itself with 3"
            for name, arguments, wanted in calls:
                found = await client.call_tool(name, arguments)
                assert found.structured_content == {"result": wanted}, name

    asyncio.run(ask())


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_documented_functions_are_tools(module: Path, mode: str) -> None:
    configure(provider=Scripted(["about rain"]))
    offers = serving.offered(_loaded(module))
    told: list[str | None] = []

    async def hear(done: float, total: float | None, message: str | None) -> None:
        told.append(message)

    async def ask() -> None:
        async with Client(serving._server("triage", offers, None), mode=mode) as client:
            tools = {one.name: one for one in (await client.list_tools()).tools}
            assert list(tools) == ["judge", "count", "judge_all", "judge_each"]
            assert tools["judge"].description == "Tells how urgent a mail is."
            text = {"type": "string", "description": "the mail"}
            assert tools["judge"].input_schema["properties"]["text"] == text
            mail = await client.call_tool("judge", {"text": "rain"}, progress_callback=hear)
            assert mail.structured_content == {"subject": "about rain", "urgent": False}
            found = await client.call_tool("count", {"text": "a b"})
            assert found.structured_content == {"result": 2}
            failed: Any = await client.call_tool("count", {"text": ""})
            assert failed.is_error and failed.content[0].text == "there is no text"
            wrong: Any = await client.call_tool("count", {"txt": ""})
            assert wrong.is_error and "did you mean `text`?" in wrong.content[0].text

    remove = serving.add_listener(serving._report)
    try:
        asyncio.run(ask())
    finally:
        remove()
    assert told == ["1 prompt is answered"]


class _Halting:
    """Answers when it is let go on; `asked` is set at the first request."""

    def __init__(self) -> None:
        self.asked, self.go_on = threading.Event(), threading.Event()
        self.requests = 0

    def complete(self, request: Request) -> Reply:
        """A reply, once nobody holds it back any more."""
        self.requests += 1
        self.asked.set()
        self.go_on.wait()
        return Reply("rain")


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("tool", ["judge_all", "judge_each"])
def test_a_call_that_is_cancelled_sends_no_more_prompts(module: Path, mode: str, tool: str) -> None:
    model = _Halting()
    configure(provider=model)
    loaded = _loaded(module)
    offers = serving.offered(loaded)

    async def ask() -> None:
        async with Client(serving._server("triage", offers, None), mode=mode) as client:
            call = asyncio.ensure_future(client.call_tool(tool, {"texts": ["a", "b", "c"]}))
            await asyncio.to_thread(model.asked.wait)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            # The server hears of it before it hears of this.
            found = await client.call_tool("count", {"text": "a b"})
            assert found.structured_content == {"result": 2}
            model.go_on.set()
            await asyncio.to_thread(loaded.over.wait)

    asyncio.run(ask())
    assert model.requests == 1


@pytest.mark.heavy
def test_what_is_printed_does_not_reach_the_client(module: Path) -> None:
    words = ["-m", "runtime_support.mcp", str(module)]
    command = StdioServerParameters(command=sys.executable, args=words)

    async def ask() -> Any:
        async with Client(command) as client:
            return (await client.call_tool("count", {"text": "a b c"})).structured_content

    assert asyncio.run(ask()) == {"result": 3}


def test_a_module_without_functions_is_told(tmp_path: Path) -> None:
    path = tmp_path / "triage.py"
    path.write_text("x = 1\n")
    with pytest.raises(CheckError, match="triage has no function to offer"):
        serving.serve(_loaded(path), "triage")


ODD_LINES = [
    ('{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": PARAMS}', 7),
    ('{"method": "tools/call", "params": PARAMS, "jsonrpc": "2.0", "id": "a\\u0062"}', "ab"),
]
ARGUMENTS = {
    "half of a surrogate pair": '{"name": "count", "arguments": {"id": 1, "text": "\\ud800"}}',
    "too deep": f'{{"name": "count", "arguments": {"[" * 300}{{"id": 1}}{"]" * 300}}}',
}


def exchanged(module: Path, *lines: str) -> list[dict[str, Any]]:
    """What a server over standard input and output answers, line by line, to raw lines."""
    words = [sys.executable, "-m", "runtime_support.mcp", str(module)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as served:
        assert served.stdin is not None and served.stdout is not None
        answers: list[dict[str, Any]] = []
        for line in (INITIALIZE, *lines):
            served.stdin.write(line.encode() + b"\n")
            served.stdin.flush()
            answers.append(json.loads(served.stdout.readline()))
        served.stdin.close()
    return answers[1:]


INITIALIZE = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 0,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "by hand", "version": "1"},
        },
    }
)


def test_what_cannot_be_read_is_answered(module: Path) -> None:
    odd = [(line, id_, one) for line, id_ in ODD_LINES for one in ARGUMENTS.values()]
    lines = {line.replace("PARAMS", one): id_ for line, id_, one in odd}
    lines |= {
        '{"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": 5}': 8,
        '{"jsonrpc": "2.0", "id": 9}': 9,
        "what?": None,
        "[1]": None,
        "7": None,
    }
    answers = exchanged(module, *lines, CALL)
    assert [one["id"] for one in answers] == [*lines.values(), 1]
    assert all("error" in one for one in answers[:-1])
    assert answers[-1]["result"]["structuredContent"] == {"result": 2}


CALL = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "count", "arguments": {"text": "a b"}},
    }
)
HALVES = '''
def half() -> str:
    'Gives half of a character.'
    return chr(0xD800)


def fails() -> str:
    'Fails with half of a character.'
    raise ValueError(chr(0xD800))
'''


def test_a_result_that_cannot_be_sent_is_an_error_of_its_call(tmp_path: Path) -> None:
    path = tmp_path / "triage.py"
    path.write_text(HALVES)
    calls = [
        CALL.replace('"count"', f'"{name}"').replace('{"text": "a b"}', "{}")
        for name in ("half", "fails", "half")
    ]
    answers = exchanged(path, *calls)
    assert [one["result"]["isError"] for one in answers] == [True] * 3
    assert "cannot be sent" in answers[0]["result"]["content"][0]["text"]


def test_a_file_is_no_folder_for_the_journals_of_calls(module: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot keep journals in .*: Not a directory") as told:
        serving.serve(_loaded(module), "triage", None, str(module))
    assert told.value.hint == "name a folder: each call has its own journal"


def test_two_servers_may_have_one_folder_for_journals(tmp_path: Path) -> None:
    folder, other = serving.CallJournals(str(tmp_path)), serving.CallJournals(str(tmp_path))
    configure(provider=Scripted(["one", "two"]))
    with folder.run("judge", "{}"):
        assert prompt("Hi").value == "one"
        with other.run("judge", "{}"):
            assert prompt("Hi").value == "two"
        assert len(list(tmp_path.glob("judge-*.journal"))) == 1, "the first call is still running"
    assert len(list((tmp_path / "ended").iterdir())) == 2
    with pytest.raises(RunWaiting), folder.run("judge", "{}"):
        raise RunWaiting("refund()", None)
    assert len(list(tmp_path.glob("judge-*.journal"))) == 1
