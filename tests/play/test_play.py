"""The page of `saftc play` as programs see it: who is let in, what runs, what is saved."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import ClientConnection, connect

from saftc.play import server
from tests.compiler.support import EXAMPLES, ROOT
from tests.play.serving import Page, serving

pytestmark = pytest.mark.one_python

# Only a defect takes this long, in seconds.
PATIENCE = 60
EVIL = "http://evil.example"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with serving(tmp_path_factory.mktemp("play") / "one.saft") as served:
        yield served


def ask(page: Page, path: str, headers: dict[str, str], method: str = "GET") -> tuple[int, str]:
    """The status and the text of an answer; `{token}` stands for the token."""
    with closing(http.client.HTTPConnection("127.0.0.1", page.port, timeout=PATIENCE)) as to:
        to.putrequest(method, path.replace("{token}", page.token), skip_host=True)
        for name, value in {"Host": page.host, "Content-Length": "0", **headers}.items():
            to.putheader(name, value)
        to.endheaders()
        answer = to.getresponse()
        return answer.status, answer.read().decode()


def run_socket(
    page: Page,
    *,
    origin: str | None = None,
    token: str | None = None,
    host: str | None = None,
    version: str = "",
) -> ClientConnection:
    """A connection that runs scripts, from the page itself if nothing else is said."""
    token = quote(page.token if token is None else token)
    address = f"ws://{host or page.host}/run?token={token}&version={version}"
    # Whatever it is called, it is this machine that is asked.
    sock = socket.create_connection(("127.0.0.1", page.port), timeout=PATIENCE)
    return connect(address, sock=sock, origin=origin, open_timeout=PATIENCE)  # type: ignore[arg-type]


def own(page: Page, version: str = "") -> ClientConnection:
    return run_socket(page, origin=f"http://{page.host}", version=version)


def state_of(page: Page) -> dict[str, Any]:
    state: dict[str, Any] = json.loads(ask(page, "/state?token={token}", {})[1])
    return state


def news_of(connection: ClientConnection, message: dict[str, Any], last: str) -> list[Any]:
    """What is told after a message, up to news of one kind."""
    connection.send(json.dumps(message))
    found: list[Any] = []
    while not found or found[-1]["kind"] != last:
        found.append(json.loads(connection.recv(PATIENCE)))
    return found


def printed(news: list[Any], stream: str = "stdout") -> str:
    """All of a stream, which comes in pieces of any size."""
    pieces = [one["text"] for one in news if one["kind"] == "output" and one["stream"] == stream]
    return "".join(pieces)


# Who is let in


# What is the same for everybody: the token is with the page, not in it.
KNOWN = ("/", "/page.js", "/page.css", "/editor.js")


@pytest.mark.parametrize("query", ["", "?token=", "?token=wrong", "?token=wrong&token={token}"])
@pytest.mark.parametrize("path", ["/state", "/script", "/who", "/timeline", "/other", "/page.html"])
def test_who_has_no_token_is_refused(page: Page, path: str, query: str) -> None:
    status, text = ask(page, path + query, {})
    assert status == 403 and page.token not in text


@pytest.mark.parametrize("path", KNOWN)
def test_the_page_alone_needs_no_token(page: Page, path: str) -> None:
    status, text = ask(page, path, {})
    assert status == 200 and page.token not in text
    # Of what is on this machine, nothing is in it.
    assert str(page.folder) not in text and "one.saft" not in text


@pytest.mark.parametrize("path", ["/state", "/timeline", "/other", *KNOWN])
@pytest.mark.parametrize(
    ("query", "headers"),
    [
        ("?token={token}", {"Host": "evil.example"}),
        ("?token={token}", {"Host": "localhost"}),
        ("?token={token}", {"Origin": EVIL}),
        ("?token={token}", {"Origin": "null"}),
    ],
)
def test_a_stranger_is_refused(page: Page, path: str, query: str, headers: dict[str, str]) -> None:
    status, text = ask(page, path + query, headers)
    assert status == 403 and page.token not in text


def test_a_form_of_another_page_does_nothing(page: Page) -> None:
    for path in ("/", "/run", "/state"):
        assert ask(page, f"{path}?token={{token}}", {"Origin": EVIL}, "POST")[0] == 403
        assert ask(page, path, {}, "POST")[0] == 403
        assert ask(page, f"{path}?token={{token}}", {}, "POST")[0] in (404, 405)


def test_the_page_itself_is_let_in(page: Page) -> None:
    status, text = ask(page, "/?token={token}", {})
    assert status == 200 and "saftc play" in text
    assert ask(page, "/state?token={token}", {"Origin": f"http://{page.host}"})[0] == 200


def test_other_pages_neither_hold_nor_read_it(page: Page) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", page.port, timeout=PATIENCE)) as to:
        to.request("GET", "/")
        headers = to.getresponse().headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "frame-ancestors 'self'" in policy
    assert "script-src 'self';" in policy
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "Access-Control-Allow-Origin" not in headers


@pytest.mark.parametrize(
    "stranger",
    [
        {"origin": EVIL},
        {"origin": None},
        {"origin": "null"},
        {"origin": "http://localhost"},
        {"origin": "own", "token": "wrong"},
        {"origin": "own", "token": ""},
        {"origin": "own", "host": "evil.example"},
    ],
)
def test_a_connection_of_a_stranger_is_refused(page: Page, stranger: dict[str, Any]) -> None:
    if stranger["origin"] == "own":
        stranger = {**stranger, "origin": f"http://{page.host}"}
    with pytest.raises(InvalidStatus, match="403"):
        run_socket(page, **stranger)


def test_only_the_loopback_interface_is_served(page: Page) -> None:
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", page.port), timeout=PATIENCE)


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="looks at processes in /proc")
def test_no_other_user_sees_the_token(tmp_path: Path) -> None:
    # The browser stays, as one in the terminal does.
    looking = tmp_path / "looking.py"
    looking.write_text(
        "import os, pathlib, sys, time, urllib.request\n"
        "path = pathlib.Path(urllib.request.url2pathname(sys.argv[1].removeprefix('file://')))\n"
        "part = pathlib.Path(__file__).with_name('part')\n"
        "part.write_text(f'{path}\\n{path.stat().st_mode & 0o777:o}\\n{path.read_text()}')\n"
        "part.rename(part.with_name('seen'))\n"
        "time.sleep(600)\n"
    )
    with serving(tmp_path / "one.saft", f"{sys.executable} {looking} %s") as page:
        while not (seen := tmp_path / "seen").exists():
            time.sleep(0.05)
        path, mode, text = seen.read_text().split("\n", 2)
        assert mode == "600" and f"url={page.address}" in text and "saftc play" in text
        started = [
            data for process in Path("/proc").glob("[0-9]*") for data in _read(process / "cmdline")
        ]
        browsers = [data for data in started if str(looking) in data]
        assert browsers and not any(page.token in data for data in started)
        for process in Path("/proc").glob("[0-9]*"):
            if any(str(looking) in data for data in _read(process / "cmdline")):
                os.kill(int(process.name), signal.SIGKILL)
    assert not Path(path).exists()


def _read(path: Path) -> list[str]:
    try:
        return [path.read_text(errors="replace")]
    except OSError:
        return []  # it has ended


# Runs


def test_a_run_tells_what_it_asks_and_prints(page: Page) -> None:
    text = (EXAMPLES / "hello.saft").read_text(encoding="utf-8")
    with own(page) as connection:
        *news, ended = news_of(connection, {"run": text}, "ended")
    kinds = [one.get("event", one["kind"]) for one in news]
    # What is printed comes by a pipe of its own, and may overtake what is told.
    assert set(kinds) == {"begun", "request", "reply", "over", "output", "done", "timeline"}
    assert kinds.index("request") < kinds.index("reply")
    assert printed(news) == "Alice will be 31 next year\n"
    assert (ended["code"], ended["stopped"]) == (0, False)


def test_what_is_wrong_comes_on_standard_error(page: Page) -> None:
    with own(page) as connection:
        *news, ended = news_of(connection, {"run": 'print("before")\nassert 1 == 2\n'}, "ended")
    assert printed(news) == "before\n" and ":2:" in printed(news, "stderr")
    assert ended["code"] == 1


@pytest.mark.heavy
def test_a_run_without_its_folder_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    with serving(folder / "one.saft") as page, own(page) as connection:
        folder.rmdir()
        *news, ended = news_of(connection, {"run": "print(1)"}, "ended")
        assert "the run did not start: No such file" in printed(news, "stderr")
        assert ended["code"] == 1
        folder.mkdir()
        assert printed(news_of(connection, {"run": "print(1)"}, "ended")) == "1\n"


def test_what_runs_has_the_name_of_its_file(page: Page) -> None:
    with own(page) as connection:
        *news, _ = news_of(connection, {"run": "x = 1\nassert x == 2\n"}, "ended")
        assert "--> one.saft:2:" in printed(news, "stderr") and "<stdin>" not in str(news)
        *news, _ = news_of(connection, {"run": "assert 1 == 2\n", "name": "two.saft"}, "ended")
        assert "--> two.saft:1:" in printed(news, "stderr")


def test_a_text_that_another_script_had_before_has_the_places_of_its_own(page: Page) -> None:
    text = 'prompt_text = 9\nprint($name a colour$)\n'
    with own(page) as connection:
        for name in ("first.saft", "second.saft"):
            asking = {"run": text, "name": name, "provider": "mock"}
            _, asked, *_ = news_of(connection, asking, "ended")
            assert asked["place"] == f"{name}:2:7"


@pytest.mark.heavy
def test_a_script_of_a_package_imports_its_neighbours(tmp_path: Path) -> None:
    package = tmp_path / "mailsort"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "schema.saft").write_text("word = 3\n")
    text = "from .schema import word\nfrom mailsort.schema import word as it\nprint(word + it)\n"
    with serving(package / "main.saft") as page, own(page) as connection:
        news = news_of(connection, {"run": text}, "ended")
    assert printed(news) == "6\n", news


def test_what_is_no_message_is_passed_over(page: Page) -> None:
    with own(page) as connection:
        for message in ("{nothing", "[1]", "5", '{"run": 5}', '{"save": null}', "", "[" * 100_000):
            connection.send(message)
        for data in (b"", b"\xff", b'{"run": "print(2)"}'):
            connection.send(data)
        assert printed(news_of(connection, {"run": "print(1)"}, "ended")) == "1\n"


def test_a_language_server_passes_over_what_is_no_text(page: Page) -> None:
    address = f"ws://{page.host}/language?token={quote(page.token)}"
    with connect(address, origin=f"http://{page.host}") as connection:  # type: ignore[arg-type]
        connection.send(b"\xff")
        connection.send("")
        connection.send('{"jsonrpc": "2.0", "id": 1, "method": "shutdown"}')
        assert json.loads(connection.recv(PATIENCE))["id"] == 1


def test_half_of_a_character_in_a_reply_is_told(page: Page) -> None:
    (page.folder / "halves.py").write_text(
        "import os\n"
        "from runtime_support import configure\n"
        "from runtime_support.testing import Scripted\n"
        "def answer() -> None:\n"
        "    del os.environ['SAFT_REPLAY']\n"
        "    configure(provider=Scripted(['half \\ud83d']))\n"
    )
    text = "from halves import answer\nanswer()\nprint($ a face $)\n"
    with own(page) as connection:
        news = news_of(connection, {"run": text}, "ended")
    assert [one["text"] for one in news if one.get("event") == "reply"] == ["half \ud83d"]
    assert news[-1]["code"] == 0, printed(news, "stderr")


def test_a_run_is_stopped_and_another_begins(page: Page) -> None:
    endless = 'print("on")\nn = 0\nwhile true:\n    n = n + 1\n'
    with own(page) as connection:
        assert printed(news_of(connection, {"run": endless}, "output")).startswith("on")
        # A second one at the same time is not begun.
        connection.send(json.dumps({"run": 'print("second")'}))
        *news, ended = news_of(connection, {"stop": True}, "ended")
        assert ended["stopped"] and ended["code"] != 0
        assert "second" not in printed(news)
        assert printed(news_of(connection, {"run": "print(1 + 1)"}, "ended")) == "2\n"


@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="looks at processes in /proc")
def test_what_a_run_has_left_behind_is_stopped(page: Page) -> None:
    (page.folder / "leaving.py").write_text(
        "import subprocess\ndef leave() -> None:\n    subprocess.Popen(['sleep', '600'])\n"
    )
    text = 'from leaving import leave\nleave()\nprint("on")\n'
    with own(page) as connection:
        news_of(connection, {"run": text}, "output")
        while _runs_in(page.folder):
            time.sleep(0.05)
        # The script has ended, and what it started has not.
        ended = news_of(connection, {"stop": True}, "ended")[-1]
        assert (ended["code"], ended["stopped"]) == (0, True)


@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="looks at processes in /proc")
def test_a_run_ends_with_its_page(page: Page, tmp_path: Path) -> None:
    there = tmp_path / "there"
    endless = f'write_text("{there}", "a")\nprint("on")\nn = 0\nwhile true:\n    n = n + 1\n'
    with own(page) as connection:
        news_of(connection, {"run": endless}, "output")
        running = _runs_in(page.folder)
        assert len(running) == 1
    # The next run comes after the end of the one before, as the server ends it with its page.
    for _ in range(PATIENCE * 20):
        if not _runs_in(page.folder) & running:
            return
        with own(page) as connection:
            news_of(connection, {"run": "print(1)"}, "ended")
    raise AssertionError("it goes on")


def test_a_run_that_cannot_be_followed_ends(page: Page) -> None:
    (page.folder / "damage.py").write_text(
        "import os\n\n\ndef damage() -> None:\n"
        "    with open(os.environ['SAFT_LIVE'], 'a') as file:\n        file.write('no JSON\\n')\n"
    )
    text = 'from damage import damage\n\ndamage()\nprint(input("name? "))\n'
    with own(page) as connection:
        news = news_of(connection, {"run": text}, "ended")
        assert "the run has ended: its events cannot be read" in printed(news, "stderr")
        assert news[-1]["code"] == 1
        # The next run is not affected.
        assert printed(news_of(connection, {"run": "print(1)"}, "ended")) == "1\n"


@pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="looks at processes in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_ends_with_the_server(tmp_path: Path, number: signal.Signals) -> None:
    if number == signal.SIGHUP and signal.getsignal(number) == signal.SIG_IGN:
        pytest.skip("under nohup, what is started is to go on when the terminal is closed")
    endless = 'print("on")\nn = 0\nwhile true:\n    n = n + 1\n'
    with serving(tmp_path / "one.saft") as page, own(page) as connection:
        news_of(connection, {"run": endless}, "output")
        assert _runs_in(tmp_path)
        page.process.send_signal(number)
        page.process.wait(PATIENCE)
        # It is told to end before the server does, and may be at it yet.
        end = time.monotonic() + PATIENCE
        while _runs_in(tmp_path):
            assert time.monotonic() < end, "it goes on"
            time.sleep(0.05)


def _runs_in(folder: Path) -> set[int]:
    """The processes that run a script in a folder."""
    found: set[int] = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_text(errors="replace").rstrip("\0").split("\0")
            if "saftc.play.named_run" in words and (process / "cwd").resolve() == folder:
                found.add(int(process.name))
        except OSError:
            continue  # it has ended
    return found


def test_a_run_tells_what_its_prompts_take_and_asks_one_again(page: Page) -> None:
    text = (EXAMPLES / "hello.saft").read_text(encoding="utf-8")
    mock = {"provider": "mock", "model": None}
    with own(page) as connection:
        *news, _ = news_of(connection, {"run": text, "choice": mock}, "ended")
        told = {one.get("event"): one for one in news}
        assert told["request"]["again"] and "whole" not in told["request"]
        assert "Extract the person" in told["request"]["messages"][0][1]
        assert told["reply"]["tokens"][0] > 0 and told["reply"]["seconds"] >= 0
        again = {"again": told["request"]["key"], "choice": mock}
        found = news_of(connection, again, "again")
        while found[-1]["event"] == "piece":
            found.append(json.loads(connection.recv(PATIENCE)))
        assert found[-1]["event"] == "reply" and found[-1]["text"] == told["reply"]["text"]
        nobody = {"provider": "unset", "model": None}
        refused = news_of(connection, {**again, "choice": nobody}, "again")[-1]
        assert refused["event"] == "failure" and "no model answers" in refused["message"]


def test_a_script_reads_the_lines_that_are_typed(page: Page) -> None:
    text = 'name = input("who? ")\nprint(name, input())\n'
    with own(page) as connection:
        # It says when it reads.
        news = news_of(connection, {"run": text}, "reads")
        news += news_of(connection, {"input": "Ann"}, "reads")
        news += news_of(connection, {"input": "Bo"}, "ended")
        assert printed(news) == "who? Ann Bo\n"
        assert [one["kind"] for one in news].count("reads") == 2
        # Without more lines there is nothing to read.
        news = news_of(connection, {"run": text}, "reads")
        assert printed([*news, *news_of(connection, {"input": None}, "ended")]) == "who? nil nil\n"


def test_a_script_that_does_not_say_so_itself_reads(page: Page) -> None:
    asker = "import sys\n\ndef ask() -> str:\n    return sys.stdin.read()\n"
    (page.folder / "asker.py").write_text(asker)
    (page.folder / "library.saft").write_text('f name():\n    ret input("who? ")\n')
    text = "from library import name\nfrom asker import ask\nprint(name(), ask())\n"
    with own(page) as connection:
        news = news_of(connection, {"run": text}, "reads")
        news += news_of(connection, {"input": "Ann"}, "reads")
        connection.send(json.dumps({"input": "more"}))
        news += news_of(connection, {"input": None}, "ended")
        assert printed(news) == "who? Ann more\n\n", printed(news, "stderr")


REFUNDS = """f refund(order: string, amount: float) -> string:
    ret f"paid {amount}"

x = $ Pay order "A-17" back. Use {refund:approve}. $
for call in x.toolCalls:
    print(call.tool, call.args, call.result, call.error)
"""
MOCK = {"provider": "mock", "model": None}


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ({"verdict": "yes"}, "paid"),
        ({"verdict": "no", "reason": "above the limit"}, "not approved: above the limit"),
        ({"verdict": "changed", "arguments": '{"order": "A-17", "amount": 2}'}, "paid 2"),
    ],
    ids=["yes", "no", "changed"],
)
def test_a_call_waits_for_a_decision(page: Page, answer: dict[str, str], outcome: str) -> None:
    with own(page) as connection:
        news = news_of(connection, {"run": REFUNDS, "choice": MOCK}, "waits")
        told = news[-1]
        assert told["shown"].startswith("refund(") and told["place"] == "one.saft:4:5"
        assert set(json.loads(told["arguments"])) == {"order", "amount"}
        # What does not fit is asked again, with the reason.
        wrong = {"verdict": "changed", "arguments": '{"order": "A-17"}'}
        again = news_of(connection, {"input": json.dumps(wrong)}, "waits")[-1]
        assert "amount" in again["problem"]
        news += news_of(connection, {"input": json.dumps(answer)}, "ended")
        assert outcome in printed(news), printed(news, "stderr")


def test_a_run_tells_when_its_script_begins(page: Page) -> None:
    with own(page) as connection:
        news = news_of(connection, {"run": "print(1)\n"}, "ended")
        kinds = [one["kind"] for one in news]
        assert kinds.index("begun") < kinds.index("output")
        assert news[-1]["start"] > 0


def test_a_lesson_has_answers_of_its_own(page: Page) -> None:
    lesson = (ROOT / "saftc" / "play" / "tour" / "lesson03_records.saft").read_text()
    # What is changed there, the mock answers.
    text = f"{lesson}print($ name a colour $)\n"
    before = (ROOT / "saftc" / "play" / "tour" / "lesson03_records.jsonl").read_bytes()
    with own(page) as connection:
        asked = {"run": text, "choice": {"recording": "lesson03_records"}}
        news = news_of(connection, asked, "ended")
        assert news[-1]["code"] == 0, printed(news, "stderr")
        first, second, third = printed(news).splitlines()
        assert (first, second) == ("medium Wrong invoice", "high Server on fire") and third
        away = {"run": "print(1)\n", "choice": {"recording": "../../page"}}
        assert news_of(connection, away, "ended")[-1]["code"] == 0
    assert (ROOT / "saftc" / "play" / "tour" / "lesson03_records.jsonl").read_bytes() == before


def test_who_answers_is_told(page: Page) -> None:
    status, text = ask(page, "/who?token={token}", {})
    told = json.loads(text)
    assert status == 200 and told["replay"] == "hello.jsonl"
    assert ["mock", "rules, no model"] in told["choices"]


def test_scripts_of_the_folder_are_read(page: Page) -> None:
    (page.folder / "other.saft").write_text("other = 1\n")
    assert "other.saft" in state_of(page)["files"]
    found = json.loads(ask(page, "/script?token={token}&name=other.saft", {})[1])
    assert found["text"] == "other = 1\n" and found["version"]
    for name in ("../other.saft", "gone.saft", ".hidden.saft", "/etc/passwd"):
        answer = ask(page, "/script?token={token}&name=" + quote(name, safe=""), {})[1]
        assert "there is no script" in json.loads(answer)["problem"]


def test_a_code_is_explained(page: Page) -> None:
    status, text = ask(page, "/explain?token={token}&code=SAFT0201", {})
    assert status == 200 and "SAFT0201" in text
    assert ask(page, "/explain?token={token}&code=SAFT9999", {})[0] == 404


def test_the_module_is_there_at_once(page: Page) -> None:
    status, text = ask(page, "/python?token={token}", {})
    assert status == 200 and "prompt(" in text


# Saving


def test_a_script_is_saved_and_not_lost(tmp_path: Path) -> None:
    file = tmp_path / "mine.saft"
    with serving(file) as page, own(page) as connection:
        state = state_of(page)
        assert state["text"] == state["examples"]["First steps"]["hello"] and not state["saved"]
        assert news_of(connection, {"save": "print(1)\n"}, "saved")
        assert file.read_text() == "print(1)\n"
        file.write_text("print(2)  // by another program\n")
        (told,) = news_of(connection, {"save": "print(3)\n"}, "unsaved")
        assert "changed on disk" in told["problem"]
        assert file.read_text() == "print(2)  // by another program\n"
        assert news_of(connection, {"save": "print(3)\n"}, "saved")
        assert file.read_text() == "print(3)\n"
        assert state_of(page)["text"] == "print(3)\n"


def test_each_page_knows_the_file_that_it_has_shown(tmp_path: Path) -> None:
    file = tmp_path / "mine.saft"
    file.write_text("print(0)\n")
    with serving(file) as page:
        before = state_of(page)["version"]
        with own(page, before) as first, own(page, before) as second:
            assert news_of(first, {"save": "print(1)\n"}, "saved")
            assert state_of(page)["text"] == "print(1)\n"
            (told,) = news_of(second, {"save": "print(2)\n"}, "unsaved")
            assert "changed on disk" in told["problem"]
            assert file.read_text() == "print(1)\n"
            assert news_of(second, {"save": "print(2)\n"}, "saved")
            (told,) = news_of(first, {"save": "print(3)\n"}, "unsaved")
        # A page that has lost its connection knows what it was told.
        with own(page, told["version"]) as first:
            assert news_of(first, {"save": "print(3)\n"}, "saved")
    assert file.read_text() == "print(3)\n"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("mine.saft", "there is a file mine.saft already"),
        ("../away.saft", "is not a name for a script"),
        ("/tmp/away.saft", "is not a name for a script"),
        ("sub/away.saft", "is not a name for a script"),
        ("..\\away.saft", "is not a name for a script"),
        (".away.saft", "is not a name for a script"),
        ("away.py", "is not a name for a script"),
        ("a\nb.saft", "is not a name for a script"),
        ("", "is not a name for a script"),
    ],
)
def test_a_new_script_is_written_over_nothing(tmp_path: Path, name: str, problem: str) -> None:
    file = tmp_path / "mine.saft"
    file.write_text("print(0)\n")
    with serving(file) as page, own(page, state_of(page)["version"]) as connection:
        message = {"save": "print(1)\n", "name": name, "new": True}
        for _ in range(2):
            (told,) = news_of(connection, message, "unsaved")
            assert problem in told["problem"]
    assert [one.name for one in tmp_path.iterdir()] == ["mine.saft"]
    assert file.read_text() == "print(0)\n"


def test_a_new_script_is_saved_and_saved_again(tmp_path: Path) -> None:
    file = tmp_path / "mine.saft"
    with serving(file) as page, own(page) as connection:
        (told,) = news_of(
            connection, {"save": "print(1)\n", "name": "new.saft", "new": True}, "saved"
        )
        assert told["uri"] == (tmp_path / "new.saft").as_uri()
        assert news_of(connection, {"save": "print(2)\n", "name": "new.saft"}, "saved")
        assert (tmp_path / "new.saft").read_text() == "print(2)\n"
        again = {"save": "print(3)\n", "name": "new.saft", "new": True}
        assert news_of(connection, again, "unsaved")
    assert not file.exists()


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_lines_end_as_they_did(tmp_path: Path, end: str) -> None:
    file = tmp_path / "mine.saft"
    file.write_bytes(f"x = 1{end}print(x){end}".encode())
    with serving(file) as page, own(page, state_of(page)["version"]) as connection:
        for text in ("x = 1\n\nprint(x)\n", "x = 2\nprint(x)\n"):
            assert news_of(connection, {"save": text}, "saved")
            assert file.read_bytes() == text.replace("\n", end).encode()


def test_a_link_stays_one(tmp_path: Path) -> None:
    file, link = tmp_path / "mine.saft", tmp_path / "link.saft"
    file.write_text("x = 1\n")
    link.symlink_to(file)
    with serving(link) as page, own(page, state_of(page)["version"]) as connection:
        assert news_of(connection, {"save": "x = 2\n"}, "saved")
    assert link.is_symlink() and file.read_text() == "x = 2\n"


def test_half_of_a_character_is_not_saved(tmp_path: Path) -> None:
    file = tmp_path / "mine.saft"
    with serving(file) as page, own(page) as connection:
        (told,) = news_of(connection, {"save": 'x = 1\nprint("\ud83d")\n'}, "unsaved")
        assert "line 2 has half of a character" in told["problem"]
        assert not list(tmp_path.iterdir())
        # The page goes on.
        assert news_of(connection, {"save": "x = 1\n"}, "saved")


def test_what_the_page_could_not_show_is_not_written_over(tmp_path: Path) -> None:
    file = tmp_path / "mine.saft"
    with serving(file) as page, own(page) as connection:
        file.write_bytes(b'print("caf\xe9")\n')
        assert not state_of(page)["saved"]
        assert news_of(connection, {"save": "x = 1\n"}, "unsaved")
        assert file.read_bytes() == b'print("caf\xe9")\n'


# What is in the package


def test_examples_are_those_of_the_project() -> None:
    own = sorted((ROOT / "saftc" / "play" / "examples").glob("*.saft"))
    listed = [name for names in server.EXAMPLES.values() for name in names]
    assert [path.stem for path in own] == sorted(listed)
    for path in own:
        assert path.read_bytes() == (EXAMPLES / path.name).read_bytes()
    # In the groups and in the order of the project.
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    for group, names in server.EXAMPLES.items():
        rows = page.partition(f"| {group} | | |")[2].partition("\n\n")[0]
        known = re.findall(r"^\| \[(\w+)\]", rows, re.MULTILINE)
        assert [name for name in known if name in names] == [*names]


@pytest.mark.heavy
def test_the_bundle_is_made_from_its_sources() -> None:
    from hashlib import sha256

    folder = ROOT / "editors" / "play"
    sources = (folder / "editor.js", folder / "package-lock.json")
    hashed = sha256(b"".join(path.read_bytes() for path in sources))
    bundle = (ROOT / "saftc" / "play" / "editor.js").read_text(encoding="utf-8")
    made_from = bundle.rstrip().rpartition("\n")[2]
    assert made_from == f"// made from {hashed.hexdigest()}", "npm run build in editors/play"


LINK = "http://127.0.0.1:4000/#script=KyjKzCvRMNQEAA&name=sum"


def test_a_link_goes_to_the_page_and_not_to_the_server(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "saftc", "play", "a.saft", "--no-open", "--link", LINK]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
        assert process.stdout is not None
        said = process.stdout.readline()
        process.terminate()
    assert re.search(r"/#token=[\w-]+&script=KyjKzCvRMNQEAA&name=sum$", said.strip())


def test_a_signal_in_the_middle_of_a_callback_ends_it(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys, weakref\n"
        "import uvicorn\n"
        "run = uvicorn.Server.run\n"
        "def run_later(self, sockets):\n"
        "    one = {1}\n"
        "    watching = weakref.ref(one, lambda _: os.kill(os.getpid(), signal.SIGTERM))\n"
        "    del one\n"
        "    run(self, sockets)\n"
        "uvicorn.Server.run = run_later\n"
        "sys.argv = ['saftc', 'play', 'a.saft', '--no-open']\n"
        "from saftc.__main__ import main\n"
        "main()\n"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=PATIENCE)
    assert (done.returncode, done.stderr) == (143, "")


@pytest.mark.parametrize("link", ["http://127.0.0.1:4000/", 'x#script="><b>&name=a', ""])
def test_what_is_no_link_is_refused(tmp_path: Path, link: str) -> None:
    command = [sys.executable, "-m", "saftc", "play", "a.saft", "--no-open", "--link", link]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == (
        "saftc: that link has no script in it: copy all of it, and put it in quotes\n"
    )
