"""Parts that meet in one script, program or job of their own."""

from __future__ import annotations

import json
import re
import threading
from typing import Any

import pytest

from tests.meet.scripts import LIBRARY, REFUND, SCRIPTS, answer, settle
from tests.meet.table import meet
from tests.meet.test_hosts import CLIENT, calls, served
from tests.support.fake_server import LEFT, Answer, by_question, raw, status
from tests.support.homes import Home


def at_once(home: Home, count: int) -> None:
    """Has each of the first requests answered when so many are in."""
    waiting = threading.Barrier(count, timeout=60)

    def respond(body: dict[str, Any]) -> Answer:
        if len(home.asked) <= count:
            waiting.wait()
        return by_question(answer)(body)

    home.server.responder = respond


# Jobs


def _ids(shown: str) -> list[str]:
    """The options that choose the calls which `saftc approve` shows."""
    return [word for line in re.findall(r"--call \w+", shown) for word in line.split()]


@meet("map", "journal")
def test_a_job_that_was_killed_asks_only_what_it_had_not(home: Home) -> None:
    settle(home, SCRIPTS["import"])
    home.write("words.csv", "word\na\nb\nc\n")

    def respond(body: dict[str, Any]) -> Answer:
        third = '"c"' in body["messages"][-1]["content"]
        return raw(b"", parts=[LEFT]) if third else by_question(answer)(body)

    home.server.responder = respond
    job = ("saftc", "map", "part.saft:go", "words.csv", "out", "--rows-at-once", "1")
    running = home.start(*job)
    home.server.wait_for_requests(3)
    running.kill()
    assert running.wait().code == -9
    home.reply(answer)
    ended = home.saftc(*job[1:])
    assert ended.code == 0, ended.err
    assert [row["result"] for row in home.rows("out/part-*")] == ["A!", "B!", "C!"]
    assert sorted(home.asked) == [f'Title of "{word}"' for word in "abcc"]


@meet("map", "replay")
def test_a_recorded_job_makes_the_same_parts_without_a_model(home: Home) -> None:
    settle(home, SCRIPTS["import"])
    home.write("words.csv", "word\na\nb\n")
    job = ("map", "part.saft:go", "words.csv")
    assert home.saftc(*job, "out", SAFT_RECORD="a.jsonl").code == 0
    ended = home.saftc(*job, "again", SAFT_REPLAY="a.jsonl")
    assert ended.code == 0, ended.err
    assert home.rows("out/part-*") == home.rows("again/part-*") != []
    assert len(home.asked) == 2


@meet("map", "budget")
def test_a_job_stops_at_its_budget_and_goes_on_with_a_larger_one(home: Home) -> None:
    settle(home, SCRIPTS["import"])
    home.write("words.csv", "word\na\nb\nc\n")
    job = ("map", "part.saft:go", "words.csv", "out", "--budget-requests")
    ended = home.saftc(*job, "2")
    assert ended.code == 5 and "3 rows: 2 done, 1 left" in ended.err
    assert len(home.asked) == 2
    assert home.saftc(*job, "3").code == 0
    assert [row["result"] for row in home.rows("out/part-*")] == ["A!", "B!", "C!"]
    assert len(home.asked) == 3


@meet("map", "approve")
def test_rows_wait_for_approval_and_go_on(home: Home) -> None:
    home.reply(answer)
    home.write(
        "part.saft",
        REFUND + "f go(word: string) -> string:\n    ret $ Pay {word} with {refund:approve} $\n",
    )
    home.write("words.csv", "word\na\nb\n")
    job = ("map", "part.saft:go", "words.csv", "out")
    assert home.saftc(*job).code == 4
    both = _ids(home.saftc("approve", "out").out)
    assert len(both) == 4
    assert home.saftc("approve", "out", "--yes", *both).code == 0
    assert home.saftc(*job).code == 0
    assert sorted(home.read("paid.txt").split()) == ["a", "b"]
    assert [row["result"] for row in home.rows("out/part-*")] == ["done: paid a", "done: paid b"]


@meet("map", "package")
def test_a_job_of_a_script_in_a_package(home: Home) -> None:
    home.write("src/desk/__init__.py", "")
    home.write("pyproject.toml", '[tool.saft]\nroot = "src"\n')
    home.write("src/desk/titles.saft", LIBRARY)
    home.write("src/desk/part.saft", SCRIPTS["import"].text.replace("from titles", "from .titles"))
    home.write("words.csv", "word\na\n")
    home.reply(answer)
    ended = home.saftc("map", "src/desk/part.saft:go", "words.csv", "out")
    assert ended.code == 0, ended.err
    assert [row["result"] for row in home.rows("out/part-*")] == ["A!"]


@meet("map", "fork")
def test_two_jobs_in_threads_of_one_program(home: Home) -> None:
    settle(home, SCRIPTS["overlap"])
    home.write("words.csv", "word\na\na\n")
    assert home.saftc("build", "part.saft").code == 0
    ended = home.python(
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from runtime_support.map import map_rows\n"
        "from part import go\n"
        "with ThreadPoolExecutor(2) as threads:\n"
        "    for report in threads.map(lambda out: map_rows(go, 'words.csv', out), 'xy'):\n"
        "        print(report.done, report.failed, report.usage.requests)\n"
    )
    assert ended.code == 0, ended.err
    assert ended.out == "2 0 6\n" * 2
    assert home.rows("x/part-*") == home.rows("y/part-*") != []


# Journals


INBOX = (
    LIBRARY
    + """\
for path in list_files("inbox/*.txt"):
    print(path, titled(read_text(path)))
"""
)


@meet("journal", "overlap")
def test_an_item_in_front_is_the_only_one_that_is_paid(home: Home) -> None:
    home.reply(answer)
    for word in "bcd":
        home.write(f"inbox/{word}.txt", word)
    first = home.run(INBOX, "--journal", "a.journal")
    assert first.code == 0, first.err
    home.write("inbox/a.txt", "a")
    second = home.run(INBOX, "--journal", "a.journal")
    assert second.out == f"inbox/a.txt A!\n{first.out}"
    assert len(home.asked) == 4


@meet("journal", "replay")
def test_a_journal_is_a_recording(home: Home) -> None:
    settle(home, SCRIPTS["overlap"])
    script = SCRIPTS["overlap"].text + 'print(go("a"))\n'
    kept = home.run(script, "--journal", "a.journal")
    replayed = home.run(script, "--replay", "a.journal", "--provider", "unset")
    assert (kept.code, replayed.code) == (0, 0), replayed.err
    assert kept.out == replayed.out == "A! B! C!\n"
    assert len(home.asked) == 3


@meet("journal", "budget")
def test_what_is_kept_counts_in_the_budget_of_the_run(home: Home) -> None:
    script = LIBRARY + 'for word in ["a", "b", "c"]:\n    print(titled(word))\n'
    home.reply(answer)
    run = ("--journal", "a.journal", "--budget-requests")
    first = home.run(script, *run, "2")
    assert (first.code, first.out) == (1, "A!\nB!\n")
    assert home.run(script, *run, "2").code == 1
    assert len(home.asked) == 2
    assert home.run(script, *run, "3").out == "A!\nB!\nC!\n"
    assert len(home.asked) == 3


@meet("journal", "async", "stream")
def test_a_generator_that_was_left_leaves_the_journal_free(home: Home) -> None:
    home.reply(answer)
    home.write("part.saft", "f go(word: string) -> stream:\n    ret stream $ Story of {word} $\n")
    assert home.saftc("build", "--async", "part.saft").code == 0
    ended = home.python(
        "import asyncio, part\n"
        "from runtime_support.runs import journaled\n"
        "async def pieces():\n"
        "    with journaled('a.journal'):\n"
        "        async for piece in (await part.go('a')).pieces():\n"
        "            yield piece\n"
        "async def main():\n"
        "    async for piece in pieces():\n"
        "        print(piece)\n"
        "        break\n"
        "asyncio.run(main())\n"
        "with journaled('a.journal'):\n"
        "    print('free')\n"
    )
    assert (ended.code, ended.out) == (0, "Once \nfree\n"), ended.err


# Calls at once


@meet("overlap", "try", "import", "pydantic")
def test_customers_of_an_imported_function_are_asked_at_once_and_may_fail(home: Home) -> None:
    home.write(
        "customers.py",
        "from pydantic import BaseModel\n\n\n"
        "class Customer(BaseModel):\n    name: str\n    age: int\n",
    )
    home.write(
        "known.saft",
        "from customers import Customer\n\n"
        "f known(word: string) -> Customer:\n    ret $ Customer {word} $\n",
    )
    waiting = threading.Barrier(3, timeout=60)

    def respond(body: dict[str, Any]) -> Answer:
        waiting.wait()
        is_wrong = '"b"' in body["messages"][-1]["content"]
        return status(400, "no b") if is_wrong else by_question(answer)(body)

    home.server.responder = respond
    ended = home.run("""\
from known import known

for word in ["a", "b", "c"]:
    try:
        customer = known(word)
        print(customer.name, customer.age)
    except error:
        print(word, error.kind)
""")
    assert ended.code == 0, ended.err
    assert ended.out == "a 30\nb provider\nc 30\n"


@meet("overlap", "pydantic")
def test_a_model_with_a_bound_is_asked_at_once(home: Home) -> None:
    settle(home, SCRIPTS["pydantic"])
    home.write(
        "many.saft",
        "from customers import Customer\n\n"
        "f known(word: string) -> Customer:\n    ret $ Customer {word} $\n\n"
        'print([known(word).name for word in ["a", "b"]])\n',
    )
    assert home.saftc("build", "many.saft", "-o", "many.py").code == 0
    assert "overlap(" in home.read("many.py")


@meet("overlap", "approve", "try", "import", "journal")
def test_a_loop_of_calls_that_wait_asks_for_all_of_them_once(home: Home) -> None:
    home.reply(answer)
    home.write(
        "desk.saft",
        '/// Pays back.\nf refund(order: string) -> string:\n    ret f"paid {order}"\n\n'
        "f pay(word: string) -> string:\n    ret $ Pay {word} with {refund:approve} $\n",
    )
    script = """\
from desk import pay

for word in ["a", "b"]:
    try:
        print(pay(word))
    except error:
        print("caught", error.kind)
"""
    run = ("--journal", "a.journal")
    assert home.run(script, *run).code == 4
    both = _ids(home.saftc("approve", "a.journal").out)
    assert len(both) == 4
    assert home.saftc("approve", "a.journal", "--yes", *both, "--decide-only").code == 0
    for _ in range(2):
        ended = home.run(script, *run)
        assert (ended.code, ended.out) == (0, "done: paid a\ndone: paid b\n"), ended.err
    assert len(home.asked) == 4


@meet("overlap", "stream", "after", "program")
def test_streams_in_a_loop_come_in_order_between_prompts_that_go_at_once(home: Home) -> None:
    at_once(home, 2)
    ended = home.run("""\
/// The size of a text.
f size(text: string) -> int:
    ret len(text)

titles = [$ Title of {one} $ for one in ["a", "b"]]
for title in titles:
    story = stream $ Story of {title} $
    for piece in story:
        write(piece)
    print()
    again = $ Say it again. $ after story
    n: int = program $ Measure {"abc"} with {size}. $
    print(again, n)
""")
    assert ended.code == 0, ended.err
    assert ended.out == "Once there was .\nA! again 3\n" * 2
    assert len(home.asked) == 2 + 2 * 3


def test_all_that_a_script_may_have_in_one_loop_over_an_imported_function(home: Home) -> None:
    settle(home, SCRIPTS["mcp"])
    for name, text in SCRIPTS["pydantic"].files.items():
        home.write(name, text)
    home.write(
        "talks.saft",
        """\
from customers import Customer
from mcp("docs") import search

/// The size of a text.
f size(text: string) -> int:
    ret len(text)

f talk(word: string) -> string:
    try:
        n: int = $ Count {word} $
        ret str(n)
    except error:
        chat = $ Find {word} with {search}. $
        again = stream $ Say it again. $ after chat
        said = ""
        for piece in again:
            said = said + piece
        who: Customer = $ Customer {word} $ after again
        n: int = program $ Measure {word} with {size} and {search}. $
        ret f"{error.kind}: {chat}, {said}, {who.name}, {n}"
""",
    )
    ended = home.run("""\
from talks import talk

lines = [talk(word) for word in ["a", "b"]]
for line in lines:
    print(line)
""")
    assert ended.code == 0, ended.err
    assert ended.out == ("contract: found a, A! again, a, 1\ncontract: found a, A! again, b, 1\n")
    assert len(home.asked) == 2 * 7


# Recordings and budgets


@meet("replay", "budget")
def test_what_is_replayed_is_not_counted(home: Home) -> None:
    settle(home, SCRIPTS["overlap"])
    script = SCRIPTS["overlap"].text + 'print(go("a"))\n'
    assert home.run(script, "--record", "a.jsonl").code == 0
    ended = home.run(script, "--replay", "a.jsonl", "--budget-requests", "1")
    assert (ended.code, ended.out) == (0, "A! B! C!\n"), ended.err


# Approval


APPROVED = (
    REFUND
    + """
/// Pays.
f go(word: string) -> string:
    ret $ Pay {word} with {refund:approve} $
"""
)
LEAD = """\
from runtime_support import Decision, configure

def lead(call):
    print(call.shown)
    return True if call.args["order"] == "a" else Decision.no("not that one")

"""


@meet("approve", "package", "async", "fork")
def test_an_approver_of_a_service_decides_in_loops_and_threads(home: Home) -> None:
    home.reply(answer)
    home.write("src/desk/__init__.py", "")
    home.write("src/desk/part.saft", APPROVED)
    home.write("pyproject.toml", '[tool.saft]\nroot = "src"\nin-place = true\n')
    assert home.saftc("build", "src").code == 0
    assert home.saftc("build", "src", "--async", "--suffix", "_async").code == 0
    ended = home.python(
        f"import asyncio, sys\nsys.path.insert(0, 'src')\n{LEAD}"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from desk import part, part_async\n"
        "with ThreadPoolExecutor(1) as threads:\n"
        "    configure(approver=lead)\n"
        "    print(asyncio.run(part_async.go('a')))\n"
        "    print(threads.submit(part.go, 'b').result())\n"
    )
    assert ended.code == 0, ended.err
    assert ended.out.split("\n")[:2] == ['refund(order: "a")', "done: paid a"]
    assert "not that one" in ended.out.split("\n")[3]
    assert home.read("paid.txt") == "a\n"


@meet("approve", "notebook")
def test_an_approver_of_a_notebook_decides(home: Home) -> None:
    home.reply(answer)
    ended = home.notebook(
        f"{LEAD}configure(approver=lead)", f"%%saft\n{APPROVED}", '%%saft\nprint(go("a"))'
    )
    assert ended.code == 0, ended.out
    assert 'refund(order: "a")\ndone: paid a\n' in ended.out
    assert home.read("paid.txt") == "a\n"


@meet("approve", "replay", "budget")
def test_a_recorded_approval_is_asked_again_and_pays_no_model(home: Home) -> None:
    home.reply(answer)
    home.write("part.saft", APPROVED)
    assert home.saftc("build", "part.saft").code == 0
    program = f"{LEAD}import part\nconfigure(approver=lead)\nprint(part.go('a'))\n"
    for environment in ({"SAFT_RECORD": "a.jsonl"}, {"SAFT_REPLAY": "a.jsonl"}):
        ended = home.python(program, **environment, SAFT_BUDGET_REQUESTS="2")
        assert (ended.code, ended.out) == (0, 'refund(order: "a")\ndone: paid a\n'), ended.err
    assert len(home.asked) == 2
    spent = home.python(program, SAFT_BUDGET_REQUESTS="1")
    assert spent.code == 1 and "the budget of 1 request" in spent.err
    assert home.read("paid.txt") == "a\n" * 3


@meet("approve", "stream", "after", "journal")
def test_a_stream_waits_for_approval_and_goes_on_in_its_conversation(home: Home) -> None:
    home.reply(answer)
    script = (
        REFUND
        + """
reply = stream $ Pay {"a"} with {refund:approve} $
for piece in reply:
    write(piece)
print()
print($ Say it again. $ after reply)
"""
    )
    run = ("--journal", "a.journal")
    assert home.run(script, *run).code == 4
    assert home.saftc("approve", "a.journal", "--yes", "--decide-only").code == 0
    for _ in range(2):
        ended = home.run(script, *run)
        assert (ended.code, ended.out) == (0, "done: paid a\nA! again\n"), ended.err
    assert home.read("paid.txt") == "a\n"
    assert len(home.asked) == 3


@meet("approve", "program", "mcp", "pydantic", "journal")
def test_a_program_with_a_tool_of_a_server_waits_as_a_whole(home: Home) -> None:
    settle(home, SCRIPTS["mcp"])
    for name, text in SCRIPTS["pydantic"].files.items():
        home.write(name, text)
    home.reply(lambda asked: {"find": {"customer": {"Customer": {"name": "a", "age": 3}}}})
    script = """\
from customers import Customer
from mcp("docs") import search

/// Finds a customer.
f find(customer: Customer) -> string:
    append_text("found.txt", customer.name)
    ret search(customer.name)[0].title

found: string = program $ Look for a customer with {find:approve}. $
print(found)
"""
    run = ("--journal", "a.journal")
    waiting = home.run(script, *run)
    assert waiting.code == 4, waiting.err
    assert not (home.folder / "found.txt").exists()
    assert home.saftc("approve", "a.journal", "--yes", "--decide-only").code == 0
    for _ in range(2):
        ended = home.run(script, *run)
        assert (ended.code, ended.out) == (0, "a\n"), ended.err
    assert home.read("found.txt") == "a"
    assert len(home.asked) == 1


@meet("serve", "approve", "journal")
def test_a_served_call_that_waits_says_so_and_the_server_lives_on(home: Home) -> None:
    home.reply(answer)
    home.write(
        "part.saft", APPROVED + "\n/// Echoes.\nf echo(word: string) -> string:\n    ret word\n"
    )
    first, second = calls(home, "go", "a", "a", SAFT_JOURNAL="a.journal")
    assert first[0] and "approval" in first[1]
    assert second[0] and "approval" in second[1]


@meet("serve", "approve", "journal")
def test_a_served_call_that_waits_is_decided_and_made_again(home: Home) -> None:
    home.reply(answer)
    home.write("part.saft", APPROVED)
    with served(home, "part.saft", "--journal", "kept") as ask:
        ((is_error, told),) = ask("go", "a")
        assert is_error and told.startswith('refund(order: "a") waits for approval'), told
        assert "when `saftc approve kept` has decided, make the same call again" in told
        shown = home.saftc("approve", "kept")
        assert shown.out.startswith('refund(order: "a")')
        assert home.saftc("approve", "kept", "--yes").code == 0
        asked = len(home.asked)
        assert ask("go", "a") == [[False, {"result": "done: paid a"}]]
        assert len(home.asked) == asked + 1, "what was answered is not asked again"
        assert home.read("paid.txt") == "a\n"
        # It has ended: the same call is another one.
        assert ask("go", "a")[0][0]
    with served(home, "part.saft", "--journal", "kept") as ask:
        assert home.saftc("approve", "kept", "--deny", "enough").code == 0
        ask("go", "a")
    assert home.read("paid.txt") == "a\n"
    assert "nothing waits" in home.saftc("approve", "kept").err


@meet("serve", "approve", "journal")
def test_equal_served_calls_that_wait_at_once_go_on_one_by_one(home: Home) -> None:
    home.reply(answer)
    home.write("part.saft", APPROVED)
    with served(home, "part.saft", "--journal", "kept") as ask:
        assert all(is_error for is_error, _ in ask("go", "a", "a"))
        both = _ids(home.saftc("approve", "kept").out)
        assert len(both) == 4
        assert home.saftc("approve", "kept", *both, "--yes").code == 0
        assert [ask("go", "a")[0][0] for _ in range(3)] == [False, False, True]
    assert home.read("paid.txt") == "a\na\n"


@meet("serve", "journal")
def test_a_served_call_that_a_kill_interrupted_goes_on_when_it_is_made_again(home: Home) -> None:
    home.reply(answer)
    home.write(
        "crash.py",
        "import os, pathlib, signal\n\n\n"
        "def crash_once() -> None:\n"
        "    if not os.path.exists('crashed'):\n"
        "        pathlib.Path('crashed').touch()\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n",
    )
    home.write(
        "part.saft",
        "from crash import crash_once\n\n/// A title.\nf go(word: string) -> string:\n"
        "    chat = $ Title of {word} $\n    crash_once()\n    ret $ Say it again. $ after chat\n",
    )
    with served(home, "part.saft", "--journal", "kept") as ask, pytest.raises(AssertionError):
        ask("go", "a")
    with served(home, "part.saft", "--journal", "kept") as ask:
        assert ask("go", "a") == [[False, {"result": "A! again"}]]
        assert len(home.asked) == 2
        # It has ended: the same call is another one.
        assert ask("go", "a") == [[False, {"result": "A! again"}]]
        assert len(home.asked) == 4


# Servers, packages, notebooks


@meet("serve", "async", "fork")
def test_a_compiled_module_of_the_async_form_is_served(home: Home) -> None:
    settle(home, SCRIPTS["overlap"])
    assert home.saftc("build", "--async", "part.saft").code == 0
    home.write(
        "serve.py",
        "import runpy, sys\nsys.argv = ['mcp', 'part.py', '--port', '0']\n"
        "runpy.run_module('runtime_support.mcp', run_name='__main__')\n",
    )
    serving = home.start("python", "serve.py")
    try:
        url = "http" + serving.wait_for("/mcp").partition("http")[2].split()[0].rstrip(".;,")
        home.write("client.py", CLIENT)
        asked = home.start("python", "client.py", url, "go", "a", "a", "a").wait()
        assert asked.code == 0, asked.err
    finally:
        serving.kill()
        serving.wait()
    assert asked.out == (json.dumps([False, {"result": "A! B! C!"}]) + "\n") * 3
    assert len(home.asked) == 9


@meet("serve", "package")
def test_a_script_of_a_package_is_served(home: Home) -> None:
    home.write("desk/__init__.py", "")
    home.write("desk/titles.saft", LIBRARY)
    text = SCRIPTS["import"].text.replace("from titles", "from .titles")
    home.write("desk/part.saft", text)
    home.reply(answer)
    assert calls(home, "go", "a", script="desk/part.saft") == [[False, {"result": "A!"}]]


@meet("package", "async", "fork")
def test_both_forms_of_a_package_side_by_side_in_threads(home: Home) -> None:
    home.write("src/desk/__init__.py", "")
    home.write("src/desk/titles.saft", LIBRARY)
    text = SCRIPTS["import"].text.replace("from titles", "from .titles")
    home.write("src/desk/part.saft", text)
    home.write("pyproject.toml", '[tool.saft]\nroot = "src"\n')
    home.reply(answer)
    assert home.saftc("build", "src").code == 0
    assert home.saftc("build", "src", "--async", "--suffix", "_async").code == 0
    ended = home.python(
        "import asyncio, sys\nsys.path.insert(0, 'src')\n"
        "from concurrent.futures import ThreadPoolExecutor\n"
        "from desk import part, part_async\n"
        "with ThreadPoolExecutor(2) as threads:\n"
        "    looped = threads.submit(lambda: asyncio.run(part_async.go('a')))\n"
        "    print(threads.submit(part.go, 'b').result(), looped.result())\n"
    )
    assert (ended.code, ended.out) == (0, "B! A!\n"), ended.err


@meet("notebook", "async")
def test_cells_of_the_async_form_wait_in_the_notebook(home: Home) -> None:
    settle(home, SCRIPTS["overlap"])
    ended = home.notebook(
        f"%%saft --async\n{SCRIPTS['overlap'].text}",
        '%%saft --async\nprint(go("a"))',
        "print(await go('a'))",
    )
    assert (ended.code, ended.out) == (0, "A! B! C!\n" * 2), ended.out + ended.err


@meet("notebook", "pydantic")
def test_a_cell_that_defines_a_type_and_a_function_is_run_again(home: Home) -> None:
    home.reply(answer)
    cell = (
        "%%saft\ntype P(name: string)\nf label(text: string) -> P:\n    ret P($ Title of {text} $)"
    )
    ended = home.notebook(cell, '%%saft\nx = label("a")\np = P("b")', cell, "%%saft\nprint(x.name)")
    assert (ended.code, ended.out) == (0, "A!\n"), ended.out


@meet("notebook", "package", "fork")
def test_a_cell_imports_a_compiled_package_and_uses_it_in_threads(home: Home) -> None:
    home.write("desk/__init__.py", "")
    home.write("desk/part.saft", SCRIPTS["overlap"].text)
    home.reply(answer)
    assert home.saftc("build", "--in-place", "desk").code == 0
    ended = home.notebook(
        "from concurrent.futures import ThreadPoolExecutor\nfrom desk.part import go\n"
        "with ThreadPoolExecutor(2) as threads:\n    print(*threads.map(go, 'aa'), sep='\\n')",
        '%%saft\nfrom desk.part import go\nprint(go("a"))',
    )
    assert (ended.code, ended.out) == (0, "A! B! C!\n" * 3), ended.out + ended.err


@meet("journal", "fork")
def test_a_forked_process_is_no_part_of_a_run_and_its_parent_goes_on(home: Home) -> None:
    settle(home, SCRIPTS["import"])
    assert home.saftc("build", "part.saft").code == 0
    program = (
        "import os, part\n"
        "from runtime_support.runs import journaled\n"
        "with journaled('a.journal'):\n"
        "    print(part.go('a'), flush=True)\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        print(part.go('b'), flush=True)\n"
        "        os._exit(0)\n"
        "    assert os.waitpid(child, 0)[1] == 0\n"
        "    print(part.go('c'))\n"
    )
    for _ in range(2):
        ended = home.python(program)
        assert (ended.code, ended.out) == (0, "A!\nB!\nC!\n"), ended.err
    assert sorted(home.asked) == [f'Title of "{word}"' for word in "abbc"]


@meet("map", "notebook")
def test_a_job_of_a_function_of_a_compiled_script_in_a_cell(home: Home) -> None:
    settle(home, SCRIPTS["overlap"])
    home.write("words.csv", "word\na\na\n")
    assert home.saftc("build", "part.saft").code == 0
    ended = home.notebook(
        "from part import go\nfrom runtime_support.map import map_rows\n"
        "report = map_rows(go, 'words.csv', 'out')",
        "%%saft\nprint(report.done, report.failed)",
    )
    assert (ended.code, ended.out) == (0, "2 0\n"), ended.out + ended.err
    assert [row["result"] for row in home.rows("out/part-*")] == ["A! B! C!"] * 2


@meet("map", "async")
def test_a_job_of_a_function_of_the_async_form(home: Home) -> None:
    settle(home, SCRIPTS["overlap"])
    home.write("words.csv", "word\na\na\n")
    assert home.saftc("build", "--async", "part.saft").code == 0
    ended = home.python(
        "from part import go\nfrom runtime_support.map import map_rows\n"
        "report = map_rows(go, 'words.csv', 'out')\n"
        "print(report.done, report.failed)\n"
    )
    assert (ended.code, ended.out) == (0, "2 0\n"), ended.err
    assert [row["result"] for row in home.rows("out/part-*")] == ["A! B! C!"] * 2
