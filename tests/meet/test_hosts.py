"""What a script has, under what runs it: the same small scripts in each host give the same."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from tests.meet.scripts import SCRIPTS, Script, settle
from tests.meet.table import TRIED, pair
from tests.support.homes import Home

MAIN = '\nprint(go("a"))\n'


def each_script(host: str, **fails: str) -> pytest.MarkDecorator:
    """The scripts in a host, with the reasons why some of them fail in it."""
    cases: list[object] = []
    for name, script in SCRIPTS.items():
        TRIED.setdefault(pair(host, name), []).append(f"{__name__}::{host}[{name}]")
        why = fails.get(name)
        marks = [pytest.mark.xfail(strict=True, reason=why)] if why else []
        cases.append(pytest.param(script, id=name, marks=marks))
    return pytest.mark.parametrize("script", cases)


@each_script("journal")
def test_a_run_with_a_journal_pays_once(home: Home, script: Script) -> None:
    settle(home, replace(script, text=script.text + MAIN))
    for _ in range(2):
        ended = home.saftc("run", "part.saft", "--journal", "a.journal")
        assert (ended.code, ended.out) == (0, f"{script.value}\n"), ended.err
    assert len(home.asked) == script.requests + script.unusable


@each_script("replay")
def test_a_recording_answers_all_of_a_run(home: Home, script: Script) -> None:
    settle(home, replace(script, text=script.text + MAIN))
    recorded = home.saftc("run", "part.saft", "--record", "a.jsonl")
    assert (recorded.code, recorded.out) == (0, f"{script.value}\n"), recorded.err
    replayed = home.saftc("run", "part.saft", "--replay", "a.jsonl", "--provider", "unset")
    assert (replayed.code, replayed.out) == (0, f"{script.value}\n"), replayed.err
    assert len(home.asked) == script.requests
    # What is not there is told, and no `try` of the script takes it for a failure of the model.
    for file in ("part.saft", *script.files):
        text = home.read(file)
        home.write(file, text.replace("{word}", "{word} now").replace("{one}", "{one} now"))
    missed = home.saftc("run", "part.saft", "--replay", "a.jsonl", "--provider", "unset")
    assert (missed.code, missed.out) == (1, "")
    assert "ReplayMiss" in missed.err


@each_script("budget")
def test_a_budget_is_enough_or_is_never_passed(home: Home, script: Script) -> None:
    settle(home, replace(script, text=script.text + MAIN))
    enough = str(script.requests)
    ended = home.saftc("run", "part.saft", "--budget-requests", enough)
    assert (ended.code, ended.out) == (0, f"{script.value}\n"), ended.err
    ended = home.saftc("run", "part.saft", "--budget-requests", str(script.requests - 1))
    assert (ended.code, ended.out) == (1, "")
    assert "the budget of" in ended.err
    assert len(home.asked) == 2 * script.requests - 1


@each_script("async")
def test_the_async_form_gives_the_same(home: Home, script: Script) -> None:
    settle(home, script)
    built = home.saftc("build", "--async", "part.saft")
    assert built.code == 0, built.err
    ended = home.python(
        "import asyncio, inspect, part\n"
        "async def main():\n"
        "    print(*await asyncio.gather(part.go('a'), part.go('a')), sep='\\n')\n"
        "asyncio.run(main())\n"
    )
    assert (ended.code, ended.out) == (0, f"{script.value}\n" * 2), ended.err
    assert len(home.asked) == 2 * script.requests


@each_script("package")
def test_a_script_of_a_package_gives_the_same(home: Home, script: Script) -> None:
    text = script.text
    for file in script.files:
        module = file.partition(".")[0]
        text = text.replace(f"from {module} import", f"from .{module} import")
    home.write("src/desk/__init__.py", "")
    home.write("pyproject.toml", '[tool.saft]\nroot = "src"\nin-place = true\n')
    settle(home, replace(script, text=text), "src/desk/")
    built = home.saftc("build")
    assert built.code == 0, built.err
    assert home.saftc("build", "--check").code == 0
    program = "import sys\nsys.path.insert(0, 'src')\nfrom desk.part import go\nprint(go('a'))\n"
    ended = home.python(program)
    assert (ended.code, ended.out) == (0, f"{script.value}\n"), ended.err
    assert len(home.asked) == script.requests


@each_script("map")
def test_a_job_gives_the_same_for_each_row(home: Home, script: Script) -> None:
    settle(home, script)
    home.write("words.csv", "word\na\na\n")
    ended = home.saftc("map", "part.saft:go", "words.csv", "out")
    assert ended.code == 0, ended.err
    assert [row["result"] for row in home.rows("out/part-*")] == [script.value] * 2
    assert len(home.asked) == 2 * script.requests


@each_script("fork")
def test_threads_and_a_forked_process_give_the_same(home: Home, script: Script) -> None:
    settle(home, script)
    built = home.saftc("build", "part.saft")
    assert built.code == 0, built.err
    ended = home.python(
        "import os, part\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "with ThreadPoolExecutor(2) as threads:\n"
        "    print(*threads.map(part.go, 'aa'), sep='\\n', flush=True)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    print(part.go('a'), flush=True)\n"
        "    os._exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "print(part.go('a'))\n"
    )
    assert (ended.code, ended.out) == (0, f"{script.value}\n" * 4), ended.err
    assert len(home.asked) == 4 * script.requests


@each_script("notebook")
def test_cells_give_the_same(home: Home, script: Script) -> None:
    settle(home, script)
    ended = home.notebook(f"%%saft\n{script.text}", '%%saft\nprint(go("a"))', "print(go('a'))")
    assert (ended.code, ended.out) == (0, f"{script.value}\n" * 2), ended.err + ended.out
    assert len(home.asked) == 2 * script.requests


# Calls the tool `go` of a server at an address several times at once.
CLIENT = """\
import asyncio, json, os, sys
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

async def main():
    headers = {"Authorization": "Bearer " + os.environ["SAFT_SERVE_TOKEN"]}
    http = httpx2.AsyncClient(headers=headers)
    async with Client(streamable_http_client(sys.argv[1], http_client=http)) as client:
        calls = (client.call_tool(sys.argv[2], {"word": word}) for word in sys.argv[3:])
        for found in await asyncio.gather(*calls):
            print(json.dumps([found.is_error, found.structured_content or found.content[0].text]))

asyncio.run(main())
"""


@each_script("serve")
def test_a_tool_of_a_served_script_gives_the_same(home: Home, script: Script) -> None:
    settle(home, script)
    assert calls(home, "go", "a", "a") == [[False, {"result": script.value}]] * 2
    assert len(home.asked) == 2 * script.requests


def calls(
    home: Home, tool: str, *words: str, script: str = "part.saft", **environment: str
) -> list[Any]:
    """What a client gets for calls of a tool of a script, which is served meanwhile."""
    with served(home, script, **environment) as ask:
        return ask(tool, *words)


@contextmanager
def served(
    home: Home, script: str, *options: str, **environment: str
) -> Generator[Callable[..., list[Any]]]:
    """What asks a script that is served, by a tool and words to call it with at once."""
    serving = home.start("saftc", "serve", script, "--port", "0", *options, **environment)

    def ask(tool: str, *words: str) -> list[Any]:
        asked = home.start("python", "client.py", f"http{url}", tool, *words).wait()
        assert asked.code == 0, asked.err
        return [json.loads(line) for line in asked.out.split("\n") if line]

    try:
        url = serving.wait_for("/mcp").partition("http")[2].split()[0].rstrip(".;,")
        home.write("client.py", CLIENT)
        yield ask
    finally:
        serving.kill()
        serving.wait()
