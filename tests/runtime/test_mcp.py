"""Tools of MCP servers: what a server says and does, and what a script is told of it."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypedDict

import pytest

from runtime_support import CheckError, ConfigError, Failed, Image, add_observer, configure, prompt
from runtime_support import _recordings as recordings
from runtime_support._journal.hook import journaled
from runtime_support.errors import JournalError, ReplayMiss
from runtime_support.mcp import _config as mcp_config
from runtime_support.mcp import _sessions as sessions
from runtime_support.mcp import server
from runtime_support.mcp._lock import LockedServer, LockedTool, read_lock, write_lock
from runtime_support.programs import program
from runtime_support.testing import Scripted, tool_request

SERVER = Path(__file__).parents[1] / "support" / "mcp_server.py"
TOKEN = "kV8wq2-Zr0p-7hd1"


class Hit(TypedDict):
    title: str
    score: float | None


docs = server("docs")


def search(query: str, limit: int = 10) -> list[Hit]:
    """Does search."""
    return docs.call("search", query=query, limit=limit, returns=list[Hit])


def page(url: str, part: str | None = None) -> Any:
    """Does page."""
    return docs.call("page", url=url, part=part)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project that the user trusts, with a server that is locked."""
    trusting = tmp_path / "config.toml"
    trusting.write_text(f"trusted = [{json.dumps(str(tmp_path))}]\n")
    monkeypatch.setattr(mcp_config, "user_file", lambda: str(trusting))
    settle(tmp_path)
    write_lock(str(tmp_path), _LOCKED or _ask(tmp_path))
    yield tmp_path
    sessions.close_sessions()


_LOCKED: dict[str, LockedServer] = {}


def _ask(folder: Path) -> dict[str, LockedServer]:
    for name, one in sessions.list_servers(["docs"]).items():
        assert isinstance(one, LockedServer), one
        _LOCKED[name] = one
    sessions.close_sessions()
    return _LOCKED


def settle(folder: Path, *arguments: str, **more: Any) -> None:
    """Configures the server, started with these arguments."""
    started = ["-I", "-S", str(SERVER), *arguments]
    one = {"command": sys.executable, "args": started, "env": {"TOKEN": TOKEN}, **more}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"docs": one}}))


# What comes of a call


def test_a_tool_is_called_and_gives_what_its_schema_says(project: Path) -> None:
    # A field that the schema does not name is left out, one that is missing is None.
    assert search("pipes") == [{"title": "pipes", "score": 1.0}]
    assert docs.call("search", query="a", limit=1) == [{"title": "a", "score": 1, "rank": 3}]


class _Short(TypedDict):
    title: str


class _Long(TypedDict):
    title: str
    score: float


def test_of_a_union_the_object_is_taken_that_keeps_the_most_fields(project: Path) -> None:
    either = list[_Short | _Long]
    assert docs.call("search", query="a", limit=1, returns=either) == [{"title": "a", "score": 1.0}]


def test_a_call_of_a_script_is_no_part_of_a_prompt_for_those_who_look_on(project: Path) -> None:
    told: list[Any] = []
    remove = add_observer(told.append)
    try:
        assert search("pipes") == [{"title": "pipes", "score": 1.0}]
    finally:
        remove()
    assert told == []


def test_what_is_none_and_may_be_left_out_is_not_sent(project: Path) -> None:
    assert json.loads(page("here")) == {"url": "here"}
    assert json.loads(docs.call("page", {"url": "here"}, part="b")) == {"url": "here", "part": "b"}


def test_a_field_that_is_none_and_may_be_left_out_is_not_sent(project: Path) -> None:
    def sent(where: dict[str, Any], anything: Any = None) -> Any:
        return json.loads(docs.call("nested", where=where, anything=anything))

    assert sent({"city": "Bonn", "land": None}) == {"where": {"city": "Bonn"}}
    # Null may be a value of its own, where it is not the default.
    assert sent({"city": "Bonn", "code": None}) == {"where": {"city": "Bonn", "code": None}}
    free = {"a": None}
    assert sent({"city": "Bonn"}, free) == {"where": {"city": "Bonn"}, "anything": free}


def test_several_parts_are_a_list_and_pictures_are_images(project: Path) -> None:
    assert docs.call("parts") == ["one", Image("docs 2", "image/png", b"hello")]


def test_in_an_event_loop_a_call_is_awaited(project: Path) -> None:
    async def both() -> list[Any]:
        calls = (docs.acall("search", query=one, returns=list[Hit]) for one in "ab")
        return await asyncio.gather(*calls)

    assert [found[0]["title"] for found in asyncio.run(both())] == ["a", "b"]


def test_a_model_is_offered_the_tool_and_told_what_it_gives(project: Path) -> None:
    model = Scripted([tool_request("search", query="pipes"), "It is about pipes."])
    configure(provider=model)
    answer = prompt("Use {search}.", search=search)
    assert answer.value == "It is about pipes."
    (offered,) = model.requests[0].tools
    assert offered["function"]["description"] == "Does search."
    assert answer.tool_calls[0].result == '[{"title":"pipes","score":1.0}]'


def test_a_model_is_told_that_a_picture_cannot_be_shown_to_it(project: Path) -> None:
    def parts() -> Any:
        return docs.call("parts")

    model = Scripted([tool_request("parts"), "never mind"])
    configure(provider=model)
    answer = prompt("Use {parts}.", parts=parts)
    told = (
        "the call was made, but its result cannot be told as text: "
        "value[1]: image(docs 2, image/png, 5 bytes) has no JSON form"
    )
    assert answer.tool_calls[0].error == told
    assert model.requests[1].messages[-1]["content"] == f"error: {told}"


# What goes wrong


def test_an_error_of_a_tool_is_text_and_holds_no_secret(project: Path) -> None:
    with pytest.raises(Failed, match=r"^no such page; \[redacted\]$"):
        docs.call("fails")

    def fails() -> Any:
        return docs.call("fails")

    configure(provider=Scripted([tool_request("fails"), "never mind"]))
    answer = prompt("Use {fails}.", fails=fails)
    assert answer.tool_calls[0].error == "no such page; [redacted]"


CALLING = """
def fails():
    return docs.call("fails")
async def afails():
    return await docs.acall("fails")
def look():
    fails()
async def alook():
    await afails()
"""


@pytest.mark.parametrize(("call", "line"), [("look()", 7), ("asyncio.run(alook())", 9)])
def test_a_failure_has_the_place_where_the_script_calls_the_tool(
    project: Path, call: str, line: int
) -> None:
    class Lines:
        def position(self, line: int, column: int) -> str:
            return f"ask.saft:{line}"

    names: dict[str, Any] = {"docs": docs, "asyncio": asyncio, "__saft_source_map__": Lines()}
    exec(CALLING, names)
    with pytest.raises(Failed) as told:
        exec(call, names)
    assert told.value.saft_position == f"ask.saft:{line}"


def test_what_a_server_was_told_in_confidence_is_not_passed_on(project: Path) -> None:
    assert docs.call("secret") == "the token is [redacted]"


def test_a_server_that_dies_in_a_call_is_started_once_more_for_the_next(project: Path) -> None:
    for _ in range(2):
        with pytest.raises(Failed, match=r"ended before it had answered `dies`") as told:
            docs.call("dies")
        assert "may or may not have taken effect; it wrote: out of paper" in str(told.value)
    with pytest.raises(Failed, match="has ended 2 times"):
        search("pipes")


def test_a_call_that_was_not_sent_is_made_by_the_server_that_follows(project: Path) -> None:
    assert search("a")
    session = sessions.session_of("docs")
    connection = session._open
    assert connection is not None
    sessions._here(session.loop.begin(connection.close()))  # as if it had died meanwhile
    assert search("b") == [{"title": "b", "score": 1.0}]


def test_a_server_that_hangs_is_left(project: Path) -> None:
    sessions.list_servers(["docs"])
    late = r"not answered `hangs` within 0\.3 s, as the setting `timeout` says"
    with configure(timeout=0.3), pytest.raises(Failed, match=late):
        docs.call("hangs")


def test_what_is_no_message_is_passed_over(project: Path) -> None:
    assert docs.call("noise") == "heard"


def test_a_reply_that_cannot_be_read_is_told_at_once(project: Path) -> None:
    with pytest.raises(Failed, match="has not answered `half`: Invalid JSON: "):
        docs.call("half")
    assert docs.call("noise") == "heard"


def test_a_picture_that_is_no_picture_is_told(project: Path) -> None:
    with pytest.raises(CheckError, match="the data of docs 1 is not base64"):
        docs.call("broken")


def test_a_server_may_not_ask_for_samples_or_roots(project: Path) -> None:
    assert docs.call("asks") == "refused refused"


def test_what_is_not_as_its_schema_says_is_an_error(project: Path) -> None:
    with pytest.raises(Failed, match=r"`wrong`.*title: 7 is not of type 'string'$"):
        docs.call("wrong", returns=list[Hit])


def test_a_server_whose_tools_have_changed_is_refused_before_the_first_request(
    project: Path,
) -> None:
    settle(project, "changed")
    model = Scripted(["never"])
    configure(provider=model)
    with pytest.raises(ConfigError, match="`search` of the MCP server `docs` has changed") as told:
        prompt("Use {search}.", search=search)
    assert told.value.hint == "`saftc mcp lock` shows how"
    assert not model.requests
    assert page("here")  # a tool that is the same is of use


def test_a_tool_whose_documentation_is_its_name_is_compared_with_the_lock(project: Path) -> None:
    def same() -> Any:
        """same"""
        return docs.call("same")

    settle(project, "changed")
    model = Scripted(["never asked"])
    configure(provider=model)
    with pytest.raises(ConfigError, match=r"`same` .* has changed since it was locked"):
        prompt("Use {same}.", same=same)
    assert not model.requests


def test_a_program_is_not_asked_for_over_a_tool_that_has_changed(project: Path) -> None:
    settle(project, "changed")
    model = Scripted(["never asked"])
    configure(provider=model)
    with pytest.raises(ConfigError, match=r"`search` .* has changed since it was locked"):
        program("Use {search}.", search=search)
    assert not model.requests


def test_a_package_that_is_not_installed_is_told(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(ConfigError, match="need the package mcp; pip install"):
        search("pipes")


def test_a_program_that_is_not_there_is_told(project: Path) -> None:
    settle(project, command="no-such-server")
    with pytest.raises(ConfigError, match="there is no program `no-such-server`"):
        search("pipes")


def test_an_address_where_nobody_answers_is_told(project: Path) -> None:
    one = {"mcpServers": {"docs": {"url": "http://127.0.0.1:9/mcp"}}}
    (project / ".mcp.json").write_text(json.dumps(one))
    with pytest.raises(Failed, match="the MCP server `docs` cannot be reached"):
        search("pipes")


def test_a_server_that_is_not_locked_is_told(project: Path) -> None:
    with pytest.raises(ConfigError, match=r"`dcos` is not in .*mcp\.lock\.json") as told:
        server("dcos").call("search")
    assert told.value.hint == "did you mean `docs`?"
    with pytest.raises(ConfigError, match="no tool `serach`"):
        docs.call("serach")


def test_a_lock_that_was_changed_by_hand_is_refused(project: Path) -> None:
    path = project / "mcp.lock.json"
    path.write_text(path.read_text().replace("Does search.", "Does harm."))
    with pytest.raises(ConfigError, match="the digest of `search` is not that of its entry"):
        search("pipes")


def test_definitions_that_refer_to_each_other_are_read_once_for_a_value(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_config, "user_file", lambda: str(project / "none.toml"))

    def calls_made(steps: int) -> int:
        known = {f"A{i}": {"anyOf": [{"$ref": f"#/$defs/A{i + 1}"}] * 2} for i in range(steps)}
        taken = {"properties": {"tree": {"$ref": "#/$defs/A0"}}, "$defs": known}
        tools = {"grow": LockedTool("grow", "Grows.", {"type": "object", **taken})}
        write_lock(str(project), {"docs": LockedServer("by hand", tools)})
        count = 0

        def count_call(frame: object, event: str, _: object) -> None:
            nonlocal count
            count += event == "call"

        sys.setprofile(count_call)
        try:
            with pytest.raises(ConfigError, match="confirm it before it is started"):
                docs.call("grow", tree={"left": None, "right": {}})
        finally:
            sys.setprofile(None)
        return count

    first = calls_made(2)  # which may also import modules
    assert calls_made(14) < first + 5_000


def test_a_command_of_a_project_is_not_started_before_the_user_agrees(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp_config, "user_file", lambda: str(project / "none.toml"))
    with pytest.raises(ConfigError, match="confirm it before it is started") as told:
        search("pipes")
    assert told.value.hint is not None and "trusted = [" in told.value.hint
    assert sessions.session_of("docs")._starts == 0


# Journals and recordings


def _begun(marker: Path) -> list[str]:
    return marker.read_text().split("\n")[:-1] if marker.exists() else []


def test_a_call_that_has_ended_is_not_made_again(project: Path) -> None:
    marker = project / "calls"
    settle(project, str(marker))
    for _ in range(2):
        with journaled(str(project / "run.journal")):
            assert search("pipes") == [{"title": "pipes", "score": 1.0}]
            with pytest.raises(Failed, match="no such page"):
                docs.call("fails")
    assert len(_begun(marker)) == 2


@pytest.mark.heavy
def test_a_call_under_way_at_a_kill_stops_the_run_unless_it_is_pure(project: Path) -> None:
    marker = project / "calls"
    settle(project, str(marker))
    _kill_in_a_call(project, 'with journaled("run.journal"): server("docs").call("hangs")', 1)
    for _ in range(2):
        words = r"mcp\(docs\)\.hangs .* may or may not"
        with pytest.raises(JournalError, match=words) as told, journaled("run.journal"):
            docs.call("hangs")
        hint = "find out whether it did; with SAFT_ON_INTERRUPTED_CALL=call, it is called again"
        assert told.value.hint == hint
    assert len(_begun(marker)) == 1
    pure = 'server("docs", pure=["hangs"])'
    _kill_in_a_call(project, f'with journaled("run.journal"): {pure}.call("hangs")', 2)


def _kill_in_a_call(project: Path, statement: str, calls: int) -> None:
    """Runs a statement in a process, and kills it when so many calls have begun in all."""
    text = f"""
import sys
from runtime_support.mcp import _config, server
from runtime_support._journal.hook import journaled
_config.user_file = lambda: sys.argv[1]
{statement}
"""
    command = [sys.executable, "-c", text, str(project / "config.toml")]
    with subprocess.Popen(command, cwd=project, stdin=subprocess.DEVNULL) as run:
        _await(lambda: len(_begun(project / "calls")) == calls or run.poll() is not None)
        assert run.poll() is None
        run.kill()


def test_a_replay_needs_no_server(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recording = str(project / "run.jsonl")

    def run() -> list[Any]:
        configure(provider=Scripted([tool_request("search", query="a"), "done"]))
        return [search("b"), prompt("Use {search}.", search=search).value, search("b")]

    monkeypatch.setenv("SAFT_RECORD", recording)
    made = run()
    recordings.close(recording)
    sessions.close_sessions()
    monkeypatch.delenv("SAFT_RECORD")
    monkeypatch.setenv("SAFT_REPLAY", recording)
    (project / ".mcp.json").unlink()
    assert run() == made
    with pytest.raises(ReplayMiss, match="recorded fewer times"):
        search("b")
    assert recordings.close(recording) == []


@pytest.mark.parametrize("edited", ['"content": 7', '"content": ["a"]', '"parts": []'])
def test_a_recorded_call_that_was_edited_is_told(
    project: Path, monkeypatch: pytest.MonkeyPatch, edited: str
) -> None:
    call = {"tool": "mcp(docs).page", "args": {"url": "here"}}
    entry = {"key": recordings.key_of_data(call), "repeat": 0, "request": call}
    reply = '{"is_error": false, "content": []}'.replace('"content": []', edited)
    recording = project / "run.jsonl"
    recording.write_text(json.dumps({**entry, "reply": json.loads(reply)}) + "\n")
    monkeypatch.setenv("SAFT_REPLAY", str(recording))
    with pytest.raises(ConfigError, match="is not the result of a tool"):
        page("here")


# Processes


@pytest.mark.heavy
def test_a_server_that_reads_its_input_ends_with_a_run_that_was_killed(project: Path) -> None:
    marker = project / "calls"
    settle(project, str(marker))
    waiting = "import time; time.sleep(600)"
    _kill_in_a_call(project, f'server("docs").call("page", url="a"); {waiting}', 1)
    _await(lambda: not _running(str(marker)))


@pytest.mark.heavy
def test_a_server_that_hangs_ends_with_the_sessions(project: Path) -> None:
    marker = project / "calls"
    settle(project, str(marker))
    with configure(timeout=0.3), pytest.raises(Failed):
        docs.call("hangs")
    sessions.close_sessions()
    assert _running(str(marker)) == []


def _running(argument: str) -> list[str]:
    listed = subprocess.run(["ps", "-ewwo", "pid,args"], capture_output=True, text=True, check=True)
    return [line for line in listed.stdout.splitlines() if argument in line]


def _await(condition: Callable[[], bool]) -> None:
    while not condition():
        time.sleep(0.02)


def test_a_text_where_the_schema_has_data_is_read(project: Path) -> None:
    assert docs.call("words", said="it rains", returns=str) == "it rains"
    assert docs.call("words", said='"it rains"', returns=str) == "it rains"
    assert docs.call("hit", said='{"title": "a", "rank": 3}', returns=Hit)["title"] == "a"
    for said in ("it rains", "[1]", "null"):
        with pytest.raises(Failed, match=r"`hit`.* a text where its schema has data: .*"):
            docs.call("hit", said=said, returns=Hit)


def test_a_lock_is_the_same_after_it_was_read(project: Path) -> None:
    before = (project / "mcp.lock.json").read_text()
    write_lock(str(project), read_lock(str(project)))
    assert (project / "mcp.lock.json").read_text() == before


def test_a_value_that_is_not_of_the_type_is_told_with_its_path(project: Path) -> None:
    with pytest.raises(CheckError, match=r"`page` of the MCP server `docs`|expected int"):
        docs.call("search", query="a", returns=list[int])
