"""`saftc mcp` on a server by hand, and `saftc serve` as the package's own client sees it."""

import asyncio
import json
import os
import re
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from runtime_support.mcp import _config as mcp_config
from runtime_support.mcp import _serving as serving
from runtime_support.mcp import _sessions as sessions
from runtime_support.mcp.__main__ import main
from runtime_support.mcp._lock import LockedServer, LockedTool, write_lock
from saftc.check.imports import ServerModule
from saftc.driver import check
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of
from tests.cli.conftest import Command

Script = Callable[[str, str], Path]

SERVER = Path(__file__).parents[1] / "support" / "mcp_server.py"
TRIAGE = """\
/// Tells how urgent a mail is.
f judge(text: string) -> string:
    print("judging")
    ret $ How urgent is {text}? $

/// Counts the letters.
f count(text: string) -> int:
    print("counting")
    ret len(text)
"""


@pytest.fixture(autouse=True)
def _no_module_stays() -> Iterator[None]:
    yield
    sys.modules.pop("triage", None)


@pytest.fixture
def project(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project that the user trusts, whose server is not locked yet."""
    trusting = folder / "config.toml"
    trusting.write_text(f"trusted = [{json.dumps(str(folder))}]\n")
    monkeypatch.setattr(mcp_config, "user_file", lambda: str(trusting))
    configure_server(folder)
    yield folder
    sessions.close_sessions()


def configure_server(folder: Path, *arguments: str) -> None:
    """Has the project start the server with these arguments from now on."""
    sessions.close_sessions()
    one = {"command": sys.executable, "args": ["-I", "-S", str(SERVER), *arguments]}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"docs": one}}))


def test_what_a_server_offers_is_locked_compared_and_shown(saftc: Command, project: Path) -> None:
    nothing = saftc("mcp", "list")
    assert nothing.code == 1 and "run `saftc mcp lock` first" in nothing.err
    locked = saftc("mcp", "lock")
    assert locked.code == 0, locked.err
    assert "+ f search(query: string, limit: int = 10) -> [" in locked.out
    text = (project / "mcp.lock.json").read_text()
    same = saftc("mcp", "lock", "--check")
    assert (same.code, same.out) == (0, "docs\n  nothing has changed\n")

    configure_server(project, "changed")
    changed = saftc("mcp", "lock", "--check")
    assert changed.code == 1
    assert "  - f search(query: string, limit: int = 10)" in changed.out
    assert "  + f search(query: string, limit: int = 10, kind: string? = nil)" in changed.out
    assert (project / "mcp.lock.json").read_text() == text

    listed = saftc("mcp", "list", "docs")
    assert listed.code == 0
    assert listed.out.startswith('from mcp("docs") import ...   // by hand 1.0\n')
    assert "/// Does search.\nf search(query: string" in listed.out


def test_a_link_to_the_lock_stays_a_link(saftc: Command, project: Path) -> None:
    (project / "shared").mkdir()
    (project / "mcp.lock.json").symlink_to("shared/lock.json")
    assert saftc("mcp", "lock").code == 0
    assert (project / "mcp.lock.json").is_symlink()
    assert "search" in (project / "shared/lock.json").read_text()


def test_a_server_that_does_not_answer_keeps_its_lock(saftc: Command, project: Path) -> None:
    assert saftc("mcp", "lock").code == 0
    text = (project / "mcp.lock.json").read_text()
    one = {"command": sys.executable, "args": ["-c", "raise SystemExit('out of paper')"]}
    sessions.close_sessions()
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"docs": one}}))
    ended = saftc("mcp", "lock")
    assert ended.code == 1 and "out of paper" in ended.err
    assert (project / "mcp.lock.json").read_text() == text


# A script as a server


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "SAFT_CACHE_DIR")}
    return {**kept, "SAFT_PROVIDER": "mock"}


async def _use(client: Client) -> None:
    async with client:
        tools = {one.name: one for one in (await client.list_tools()).tools}
        assert list(tools) == ["judge", "count"]
        assert tools["count"].description == "Counts the letters."
        counted = await client.call_tool("count", {"text": "rain"})
        assert counted.structured_content == {"result": 4}
        judged: Any = await client.call_tool("judge", {"text": "rain"})
        assert not judged.is_error and judged.structured_content["result"]
        wrong: Any = await client.call_tool("count", {"txt": "rain"})
        assert wrong.is_error and "did you mean `text`?" in wrong.content[0].text


@pytest.mark.heavy
def test_a_script_is_served_over_standard_input_and_output(
    script: Script, folder: Path, cache: Path
) -> None:
    path = script("triage.saft", TRIAGE)
    words = ["-m", "saftc", "serve", str(path)]
    command = StdioServerParameters(
        command=sys.executable, args=words, env=_environment(), cwd=folder
    )
    asyncio.run(_use(Client(command)))


@pytest.mark.heavy
def test_a_script_is_served_on_this_machine_to_who_has_the_token(
    script: Script, project: Path, cache: Path, saftc: Command
) -> None:
    path = script("triage.saft", TRIAGE)
    with _serving(path) as entry:
        served = entry["mcpServers"]["triage"]
        assert served["type"] == "http"
        right = served["headers"]["Authorization"]
        assert len(right) > 40
        asyncio.run(_use_with(served["url"], {"Authorization": right}))
        asyncio.run(_use_with(served["url"], {"Authorization": right.replace("B", "b", 1)}))
        token = right.removeprefix("Bearer ")
        wrong = [right[:-1], f"{right}x", token, f"Basic {token}", "Bearer", "Bearer \u00e9"]
        for headers in [{}, *({"Authorization": one} for one in wrong)]:
            assert "send the token that the server has printed" in _refusal(served["url"], headers)
        twice = [("Authorization", right), ("Authorization", "Bearer other")]
        for method, headers in (("POST", []), ("GET", []), ("DELETE", []), ("POST", twice)):
            told = httpx2.request(method, served["url"], headers=headers)
            assert (told.status_code, told.headers["WWW-Authenticate"]) == (401, "Bearer")
        # The entry is one that a project takes as it stands.
        (project / ".mcp.json").write_text(json.dumps(entry))
        locked = saftc("mcp", "lock")
        assert locked.code == 0 and "+ f count(text: string) -> int" in locked.out, locked.err


@pytest.mark.heavy
def test_a_token_of_the_environment_is_not_printed(
    script: Script, folder: Path, cache: Path
) -> None:
    with _serving(script("triage.saft", TRIAGE), SAFT_SERVE_TOKEN="kV8wq2-Zr0p") as entry:
        served = entry["mcpServers"]["triage"]
        assert served["headers"] == {"Authorization": "Bearer ${SAFT_SERVE_TOKEN}"}
        asyncio.run(_use_with(served["url"], {"Authorization": "Bearer kV8wq2-Zr0p"}))


def test_what_no_header_takes_is_no_token(
    saftc: Command, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SAFT_SERVE_TOKEN", "two words")
    ended = saftc("serve", str(script("triage.saft", TRIAGE)), "--port", "0")
    assert ended.code == 1
    assert "SAFT_SERVE_TOKEN has characters that a token cannot have" in ended.err
    assert "two words" not in ended.err


async def _use_with(address: str, headers: dict[str, str]) -> None:
    async with httpx2.AsyncClient(headers=headers) as client:
        await _use(Client(streamable_http_client(address, http_client=client)))


def _refusal(address: str, headers: dict[str, str]) -> str:
    """Why the package's own client gets no session with these headers."""
    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]

    async def use() -> None:
        async with httpx2.AsyncClient(headers=raw) as client:
            await _use(Client(streamable_http_client(address, http_client=client)))

    with pytest.raises(Exception) as told:
        asyncio.run(use())
    return "".join(traceback.format_exception(told.value))


@contextmanager
def _serving(path: Path, **more: str) -> Generator[dict[str, Any]]:
    """What it prints for `.mcp.json`, when it listens, at a port that is free."""
    command = [sys.executable, "-m", "saftc", "serve", str(path), "--port", "0"]
    served = subprocess.Popen(
        command, cwd=path.parent, env=_environment() | more, stderr=subprocess.PIPE, text=True
    )
    try:
        assert served.stderr is not None
        told = served.stderr.readline()
        assert re.search(r"triage is at http://127\.0\.0\.1:\d+/mcp", told), told
        yield json.loads(served.stderr.readline())
    finally:
        served.terminate()
        served.communicate()


def test_a_port_that_is_taken_is_told(saftc: Command, script: Script) -> None:
    script("triage.saft", TRIAGE)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = saftc("serve", "triage.saft", "--port", str(port))
    assert ended.code == 1 and f"cannot serve on port {port}: Address already in use" in ended.err
    assert "http://" not in ended.err


def test_where_no_server_answers_no_lock_is_written(saftc: Command, project: Path) -> None:
    one = {"command": sys.executable, "args": ["-c", "pass"]}
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"docs": one}}))
    assert saftc("mcp", "lock").code == 1
    assert not (project / "mcp.lock.json").exists()


def test_a_script_without_functions_to_offer_is_told(saftc: Command, script: Script) -> None:
    script("bare.saft", "print(1)\n")
    ended = saftc("serve", "bare.saft")
    assert ended.code == 1
    assert "bare has no function to offer" in ended.err and "`///` comment" in ended.err


def test_without_the_package_nothing_is_run(
    saftc: Command, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.setenv("SAFT_PROVIDER", "mock")
    script("paid.saft", 'print($ hi $)\n/// Greets.\nf greet() -> string:\n    ret "hello"\n')
    ended = saftc("serve", "paid.saft")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err == "saftc: saftc serve needs the package mcp: pip install mcp\n"


def test_prompts_show_tools_of_a_server_without_asking_it(
    saftc: Command, script: Script, project: Path
) -> None:
    assert saftc("mcp", "lock").code == 0
    sessions.close_sessions()
    (project / ".mcp.json").unlink()
    script("ask.saft", 'from mcp("docs") import search\nprint($ What of pipes? {search} $)\n')
    ended = saftc("prompts", "ask.saft", "--format", "json")
    assert ended.code == 0, ended.err
    (shown,) = json.loads(ended.out)
    (tool,) = shown["request"]["tools"]
    assert tool["function"]["name"] == "search"
    assert tool["function"]["description"] == "Does search."
    assert list(tool["function"]["parameters"]["properties"]) == ["query", "limit"]


def test_a_failing_tool_is_shown_where_the_script_calls_it(
    saftc: Command, script: Script, project: Path
) -> None:
    assert saftc("mcp", "lock").code == 0
    text = 'from mcp("docs") import fails\n\nf look() -> int:\n    fails()\n    ret 1\n\nlook()\n'
    script("ask.saft", text)
    ended = saftc("run", "ask.saft")
    assert ended.code == 1
    assert "error: no such page; None\n --> ask.saft:4:5\n" in ended.err
    assert "ask.saft:1" not in ended.err and "called at ask.saft:7:1: look()" in ended.err


def _laddered(steps: int) -> dict[str, Any]:
    """A schema of a few definitions, each of which refers to the next one twice."""
    known: dict[str, Any] = {
        f"A{i}": {
            "type": "object",
            "properties": {side: {"$ref": f"#/$defs/A{i + 1}"} for side in ("left", "right")},
        }
        for i in range(steps)
    }
    known[f"A{steps}"] = {"type": "string"}
    taken = {"name": {"type": "string"}, "tree": {"$ref": "#/$defs/A0"}}
    return {"type": "object", "properties": taken, "$defs": known}


def _types_of(steps: int) -> list[str]:
    """The types that are named in the function that a tool becomes in a script."""
    source = Source.from_text("", 'from mcp("docs") import grow\n')
    tool = {"inputSchema": _laddered(steps), "description": ""}
    checked = check(source, lambda _: ServerModule({"grow": tool}))
    return [one.text for one in nodes_of(checked.module, n.NamedSchema)]


TEXT = {"type": "string"}


def _object(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields}


def _many(schema: Any = TEXT, count: int = 20_000) -> dict[str, Any]:
    return {f"x{number}": schema for number in range(count)}


WIDE: dict[str, Any] = {
    "fields": _object(a=_object(**_many())),
    "choices": _object(a={"enum": list(_many())}),
    "members": _object(a={"anyOf": [_object(b=TEXT)] * 20_000}),
    "kinds": _object(a={"type": ["string"] * 20_000}),
    "items": _object(a={"type": "array", "prefixItems": [TEXT] * 20_000, "items": False}),
    "default": _object(a={"type": "object", "default": _many("x")}),
    "references": {
        **_object(a={"$ref": "#/$defs/A0"}),
        "$defs": {
            f"A{step}": _object(**_many({"$ref": f"#/$defs/A{step + 1}"}, 500))
            for step in range(30)
        },
    },
}


@pytest.mark.parametrize("schema", WIDE.values(), ids=WIDE)
@pytest.mark.parametrize("place", ["inputSchema", "outputSchema"])
def test_a_schema_of_many_parts_is_read_as_far_as_a_bound(
    schema: dict[str, Any], place: str
) -> None:
    source = Source.from_text("", 'from mcp("docs") import grow\n')
    tool = {"inputSchema": _object(), "description": "", place: schema}
    checked = check(source, lambda _: ServerModule({"grow": tool}))
    assert {one.severity for one in checked.diagnostics} == {"warning"}  # it is not used
    assert len(nodes_of(checked.module, n.Node)) < 3_000


def test_a_tool_of_many_parameters_cannot_be_used() -> None:
    source = Source.from_text("", 'from mcp("docs") import grow\n')
    tool = {"inputSchema": _object(**_many()), "description": ""}
    (told,) = check(source, lambda _: ServerModule({"grow": tool})).diagnostics
    assert told.message.endswith("it has 20,000 parameters, more than 1,000")


def test_definitions_that_refer_to_each_other_again_and_again_end(
    saftc: Command, project: Path, script: Script
) -> None:
    assert _types_of(7) == ["string"] * (2**7 + 1) + ["any"]  # what it gives is not told
    assert 100 < len(_types_of(40)) < 1_000 and "any" in _types_of(40)

    tools = {"grow": LockedTool("grow", "Grows.", _laddered(40), _laddered(40))}
    write_lock(str(project), {"docs": LockedServer("by hand", tools)})
    listed = saftc("mcp", "list")
    assert listed.code == 0 and "f grow(name: string? = nil, tree: {left: {" in listed.out
    checked = saftc("check", str(script("grown", 'from mcp("docs") import grow\nprint(grow())\n')))
    assert checked.code == 0, checked.err


DESK = '''/// Pays.
f refund(order: string) -> string:
    ret f"paid {order}"

/// Handles.
f handle(mail: string):
    ret $
        Answer {mail} with {refund:approve}.
    $

/// Pays at once.
f pay_all(order: string):
    ret pay(order)

f pay(order: string):
    ret refund(order)

/// Applies.
f apply(order: string, how: (string) -> string) -> string:
    ret how(order)
'''


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """The names of the functions that each server offers; no server runs."""
    found: list[set[str]] = []

    async def stop(server: Any) -> None:
        return None

    def offer(title: str, offers: Mapping[str, Any], journals: Any) -> None:
        found.append({*offers})

    monkeypatch.setattr(serving, "_server", offer)
    monkeypatch.setattr(serving, "_serve_stdio", stop)
    return found


def test_functions_that_reach_approval_or_cannot_be_tools_are_not_served(
    saftc: Command, script: Script, served: list[set[str]]
) -> None:
    ended = saftc("serve", str(script("desk.saft", DESK)))
    assert ended.code == 0
    assert served == [{"handle"}]
    for name in ("refund", "pay_all"):
        assert f"`{name}` is not offered: a client's call would not wait for approval" in ended.err
    assert "`apply` is not offered: `apply` cannot be a tool: a value of type function" in ended.err


OF_SCRIPT = """
type Mail(text: string)

/// Gives it back.
f of_script(mail: Mail) -> Mail:
    ret mail
"""
OF_MODULE = """
def of_module() -> str:
    'Documented.'
    return ''
"""


@pytest.mark.parametrize("name", ["json", "calendar", "shop/desk"])
def test_the_file_is_served_and_no_other_module_of_its_name(
    saftc: Command,
    script: Script,
    served: list[set[str]],
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = script(f"{name}.saft", OF_SCRIPT)
    module = script(f"{name}.py", OF_MODULE)
    assert saftc("serve", str(path)).code == 0
    monkeypatch.setattr(sys, "argv", ["mcp", str(module)])
    monkeypatch.setattr(sys, "path", list(sys.path))
    assert main() == 0
    assert served == [{"of_script"}, {"of_module"}]
