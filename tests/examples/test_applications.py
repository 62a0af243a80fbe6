"""The larger ones among the examples, played through against a model that follows a script."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_server import FakeServer, calling, completion, streamed

pytestmark = [pytest.mark.heavy, pytest.mark.one_python]

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    copied = tmp_path / request.param
    shutil.copytree(EXAMPLES / request.param, copied)
    return copied


def saftc(
    folder: Path, server: FakeServer, *words: str, typed: str | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    """The command, run in a folder, with the model of a server."""
    return subprocess.run(
        [sys.executable, "-m", "saftc", *words],
        cwd=folder,
        env={**os.environ, "OPENAI_API_KEY": "x", "SAFT_BASE_URL": server.url, **variables},
        input=typed,
        capture_output=True,
        text=True,
    )


def said(body: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(one["role"], one["content"]) for one in body["messages"]]


def offered(body: dict[str, Any]) -> list[str]:
    return [one["function"]["name"] for one in body.get("tools", [])]


@pytest.mark.parametrize("folder", ["support_agent"], indirect=True)
def test_the_agent_goes_on_after_a_restart(folder: Path) -> None:
    def run(server: FakeServer, typed: str) -> str:
        done = saftc(folder, server, "run", "agent.saft", typed=typed)
        assert done.returncode == 0, done.stderr
        return done.stdout

    six = [
        *("find_books", "find_orders", "get_order", "cancel_order", "refund_order", "open_ticket"),
    ]
    with FakeServer() as server:
        server.answers = [
            calling(("find_orders", {"customer": "Ada"}), ("find_books", {"words": "Dune"})),
            streamed("You have ", "two."),
            calling(("cancel_order", {"order": 18})),
            streamed("It is ", "cancelled."),
        ]
        text = run(server, "What did I order? I am Ada.\nCancel the last one.\n\n")
        assert text == "> You have two.\n> It is cancelled.\n> "
        assert all(offered(body) == six for body in server.bodies)
        results = [one for one in said(server.bodies[-1]) if one[0] == "tool"]
        assert [json.loads(text) for _, text in results][-1]["state"] == "cancelled"
    with FakeServer() as server:
        server.answers = [
            calling(("cancel_order", {"order": 18}), ("refund_order", {"order": 17})),
            streamed("Order 17 is paid back."),
        ]
        run(server, "And the other one?\n\n")
        first, last = server.bodies
        assert [role for role, _ in said(first)].count("system") == 1
        assert ("user", "Cancel the last one.") in said(first)
        assert said(first)[-1] == ("user", "And the other one?")
        assert offered(first) == six
        assert "only orders that are paid" in said(last)[-2][1]
        assert json.loads(said(last)[-1][1])["state"] == "refunded"


@pytest.fixture
def service(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The application, whose script is compiled beside it."""
    done = subprocess.run(
        [sys.executable, "-m", "saftc", "build", "--async", "chat.saft", "-o", "chat.py"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    monkeypatch.chdir(folder)
    monkeypatch.syspath_prepend(str(folder))
    import app  # pyright: ignore

    yield app.app
    for name in ("app", "chat", "orders"):
        sys.modules.pop(name, None)


async def post(app: Any, path: str, text: str) -> list[str]:
    """The parts of the body, as the server sends them."""
    parts: list[str] = []
    received = [{"type": "http.request", "body": text.encode()}]

    async def receive() -> dict[str, Any]:
        if received:
            return received.pop()
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.body" and message.get("body"):
            parts.append(message["body"].decode())

    scope = {
        **{"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST"},
        **{"path": path, "raw_path": path.encode(), "query_string": b"", "headers": []},
    }
    await app(scope, receive, send)
    return parts


def told(text: str) -> tuple[str, Any]:
    """The kind and the data of a server-sent event."""
    kind, data = text.removesuffix("\n\n").split("\n")
    return kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeServer]:
    with FakeServer() as running:
        monkeypatch.setenv("OPENAI_API_KEY", "x")
        monkeypatch.setenv("SAFT_BASE_URL", running.url)
        yield running


@pytest.mark.parametrize("folder", ["chat_service"], indirect=True)
def test_the_service_keeps_its_sessions_and_streams(service: Any, server: FakeServer) -> None:
    both = [("find_order", {"order": "A-17"}), ("find_arrival", {"order": "A-17"})]
    server.answers = [
        calling(*both),
        streamed("It was sent ", "on Monday."),
        streamed("On ", "Thursday."),
        streamed("I do not ", "know you."),
    ]

    async def talk() -> list[list[str]]:
        return [
            await post(service, "/chat/ada", "Where is my order A-17?"),
            await post(service, "/chat/ada", "And when does it arrive?"),
            await post(service, "/chat/bo", "Who am I?"),
        ]

    looked_up, arrival, unknown = [list(map(told, parts)) for parts in asyncio.run(talk())]
    names = ("find_order", "find_arrival")
    results = ("sent on Monday", "Thursday")
    assert looked_up == [
        *(
            ("tool_started", {"number": number, "tool": name, "args": {"order": "A-17"}})
            for number, name in enumerate(names, 1)
        ),
        *(
            ("tool_ended", {"number": number, "tool": name, "result": result, "error": None})
            for number, (name, result) in enumerate(zip(names, results, strict=True), 1)
        ),
        ("text", {"text": "It was sent "}),
        ("text", {"text": "on Monday."}),
        ("done", {"finish": "stop"}),
    ]
    assert [data.get("text") for _, data in arrival] == ["On ", "Thursday.", None]
    assert [data.get("text") for _, data in unknown] == ["I do not ", "know you.", None]
    answered = [text for role, text in said(server.bodies[1]) if role == "tool"]
    assert answered == list(results)
    assert [role for role, _ in said(server.bodies[2])] == [
        *("system", "user", "assistant", "tool", "tool", "assistant", "user"),
    ]
    assert said(server.bodies[3])[1:] == [("user", "Who am I?")]
    assert all(offered(body) == ["find_order", "find_arrival"] for body in server.bodies)


def test_the_letters_go_on_after_their_budget(tmp_path: Path) -> None:
    journal = tmp_path / "letters.journal"

    def run(server: FakeServer, most: int) -> subprocess.CompletedProcess[str]:
        options = ("--journal", str(journal), "--budget-requests", str(most))
        return saftc(EXAMPLES, server, "run", "letters.saft", *options)

    with FakeServer() as server:
        server.responder = lambda body: completion(
            json.dumps({"subject": "A reminder", "body": body["messages"][-1]["content"][34:44]})
        )
        first = run(server, 2)
        assert first.returncode != 0 and "budget_requests" in first.stderr
        assert first.stdout.count("A reminder") == 2
        done = run(server, 6)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(first.stdout) and done.stdout.count("A reminder") == 3
    assert len({json.dumps(body) for body in server.bodies}) == len(server.bodies) == 3


@pytest.mark.parametrize("folder", ["tested"], indirect=True)
def test_the_tests_of_the_example_pass(folder: Path) -> None:
    environment = {**os.environ, "SAFT_PROVIDER": "unset"}
    for command in (["saftc", "build", "triage.saft"], ["pytest", "-q", "-p", "no:cacheprovider"]):
        done = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert "4 passed" in done.stdout


@pytest.mark.parametrize("folder", ["mcp_tools"], indirect=True)
def test_the_trip_asks_the_server_beside_it(folder: Path) -> None:
    own = folder / "own"
    (own / "saft").mkdir(parents=True)
    (own / "saft" / "config.toml").write_text(f"trusted = [{json.dumps(str(folder))}]\n")
    lock = folder / "mcp.lock.json"
    locked = lock.read_bytes()

    variables = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "XDG_CONFIG_HOME": str(own),
    }

    def run(server: FakeServer, *words: str) -> str:
        done = saftc(folder, server, *words, **variables)
        assert done.returncode == 0, done.stderr
        return done.stdout

    with FakeServer() as server:
        heights = {"lower": "Bergen", "higher": "La Paz"}
        server.answers = [calling(("metres_between", heights)), completion("3628")]
        run(server, "mcp", "lock", "--check")
        assert run(server, "run", "trip.saft").splitlines() == [
            *("Oslo: 23 m", "Bergen: 12 m", "La Paz is 3628 m above Bergen"),
        ]
        assert said(server.bodies[1])[-1] == ("tool", "3628")
    assert lock.read_bytes() == locked


@pytest.mark.parametrize("folder", ["refund_desk"], indirect=True)
def test_the_refund_desk_goes_on_in_another_process(folder: Path) -> None:
    def reply(body: dict[str, Any]) -> Any:
        first, last = body["messages"][0]["content"], body["messages"][-1]
        if last["role"] == "tool":
            return completion("A-17 is paid back; the lamp is repaired.")
        if first.startswith("Call"):
            ada = ("refund", {"order": "A-17", "amount": 25})
            return calling(ada, ("refund", {"order": "B-9", "amount": 49.9}))
        claims = {"Ada": ("A-17", 25), "Grace": ("B-9", 49.9)}
        (order, amount) = next(one for name, one in claims.items() if name in first)
        return completion(json.dumps({"order": order, "amount": amount}))

    run = ("run", "desk.saft", "--journal", "monday.journal")
    payments = folder / "payments.py"
    whole = payments.read_text()
    with FakeServer() as server:
        server.responder = reply
        assert (first := saftc(folder, server, *run)).returncode == 4, first.stderr
        several = saftc(folder, server, "approve", "monday.journal", "--yes")
        assert several.returncode == 2
        assert 'refund(order: "A-17", amount: 25.0)' in several.stdout
        assert 'refund(order: "B-9", amount: 49.9)' in several.stdout
        first_id = several.stdout.partition("--call ")[2].partition(",")[0]
        left = saftc(folder, server, "approve", "monday.journal", "--call", first_id, "--yes")
        assert (left.returncode, "A-17" in left.stdout) == (4, False)
        # The process is killed when the money is on its way.
        killing = "    import os\n    os.kill(os.getpid(), 9)\n    return f"
        payments.write_text(whole.replace("    return f", killing))
        killed = saftc(folder, server, "approve", "monday.journal", "--deny", "it is repaired")
        assert killed.returncode == 137, killed.stderr
        payments.write_text(whole)
        stopped = saftc(folder, server, *run)
        assert stopped.returncode == 1
        assert "it may or may not have taken effect" in stopped.stderr
        assert saftc(folder, server, "approve", "monday.journal", "--yes").returncode == 1
        ended = saftc(
            folder, server, "approve", "monday.journal", "--result", "paid 25.00 for A-17"
        )
        assert ended.stdout == "A-17 is paid back; the lamp is repaired.\n", ended.stderr
        requests = len(server.bodies)
        told = [text for role, text in said(server.bodies[-1]) if role == "tool"]
        assert told == ["paid 25.00 for A-17", "error: not approved: it is repaired"]
        again = saftc(folder, server, *run)
        assert (again.returncode, again.stdout) == (0, ended.stdout)
        assert len(server.bodies) == requests == 4
    assert (folder / "paid.txt").read_text() == "A-17 25.00\n"
