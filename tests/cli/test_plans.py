"""`saftc build plan.json --tools MODULE`: files, modules of tools, and what can be wrong."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command

TOOLS = '''print("imported")


def add(a: int, b: int) -> int:
    """a plus b"""
    return a + b


def find_book(title: str) -> str:
    return title.title()
'''
GEO = """type City(name: string)
type Point(lat: float, lon: float)
print("run")
conv locate(city: City) -> Point:
    ret Point(59.9, 10.7) if city.name == "Oslo" else Point(41.9, 12.5)
f gap(a: Point, b: Point) -> float:
    ret abs(a.lat - b.lat) + abs(a.lon - b.lon)
"""
CITIES = {"gap": {"a": {"City": {"name": "Oslo"}}, "b": {"City": "Rome"}}}
OF_CITIES = """# Compiled by saftc from plan.json; edit that file instead.
from geo import City, gap, locate


def main() -> float:
    return gap(a=locate(City(name="Oslo")), b=locate(City("Rome")))


if __name__ == "__main__":
    print(main())
"""

Write = Callable[[str, Any], None]


@pytest.fixture(autouse=True)
def _imports_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = set(sys.modules)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield
    for name in set(sys.modules) - before:
        if name in ("tools", "other", "books", "market"):
            del sys.modules[name]


@pytest.fixture
def write(folder: Path) -> Write:
    """Writes a file of the folder: text, or data as JSON."""

    def write(name: str, content: Any) -> None:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")

    return write


def test_a_plan_of_a_python_module(saftc: Command, write: Write, folder: Path) -> None:
    write("tools.py", TOOLS)
    write("plan.json", {"add": {"a": 1, "b": {"add": {"a": 2, "b": 3}}}})
    done = saftc("build", "plan.json", "--tools", "tools", "-o", "plan.py")
    assert (done.code, done.out, done.err) == (0, "imported\n", "plan.json -> plan.py\n")
    assert (folder / "plan.py").read_text("utf-8").splitlines()[5] == (
        "    return add(a=1, b=add(a=2, b=3))"
    )


def test_names_that_python_keeps_to_itself_are_the_plans_without_underscore(
    saftc: Command, write: Write, folder: Path
) -> None:
    write("other.py", "def class_(of: str) -> str:\n    return of\n")
    write("tools.py", "from other import class_\nlimit = 5\n")
    write("plan.json", {"class": {"of": "limit"}})
    assert saftc("build", "plan.json", "--tools", "tools", "-o", "-").out.splitlines()[5] == (
        '    return class_(of="limit")'
    )


@pytest.mark.parametrize(
    ("plan", "called"),
    [
        ({"take": {"class": 1, "list": [2]}}, "take(class_=1, list=[2])"),
        ({"one": 1}, "one(1)"),
        ({"size": {"from": {"lambda": 1}}}, "size(from_=Row(lambda_=1))"),
        ({"size": {"from": {"Row": 1}}}, "size(from_=Row(1))"),
    ],
)
def test_parameters_and_fields_with_names_that_python_keeps_to_itself(
    saftc: Command, write: Write, plan: Any, called: str
) -> None:
    write(
        "geo.saft",
        "type Row(lambda: int)\nf take(class: int, list: [int]) -> int:\n    ret class\n"
        "f one(class: int) -> int:\n    ret class\nf size(from: Row) -> int:\n    ret 1\n",
    )
    write("plan.json", plan)
    done = saftc("build", "plan.json", "--tools", "geo", "-o", "-")
    assert (done.code, done.err) == (0, "")
    assert f"    return {called}\n" in done.out


def test_a_script_of_tools_is_not_run_and_becomes_a_module(
    saftc: Command, write: Write, folder: Path
) -> None:
    write("geo.saft", GEO)
    write("plan.json", CITIES)
    done = saftc("build", "plan.json", "--tools", "geo")
    assert (done.code, done.out) == (0, "")
    assert done.err == "plan.json -> plan.py\ngeo.saft -> geo.py\n"
    assert (folder / "plan.py").read_text("utf-8") == OF_CITIES
    done = saftc("build", "plan.json", "--tools", "geo", "--check")
    assert (done.code, done.err) == (0, "")


def test_a_compiled_module_of_tools_is_not_run(saftc: Command, write: Write, folder: Path) -> None:
    script = GEO + 'far: float = program $ How far is {"Oslo"} from Rome? {gap} $\n'
    write("source/geo.saft", script)
    assert saftc("build", "source/geo.saft", "--out-dir", ".").code == 0
    write("plan.json", CITIES)
    done = saftc("build", "plan.json", "--tools", "geo", "-o", "-")
    assert (done.code, done.out, done.err) == (0, OF_CITIES, "")


ACTIVE = """from market import Item
from shapes import Point, far
type Level = "low" | "high"
type Spot = Point
write_text("made.txt", "x")
f boom() -> int:
    write_text("made.txt", "x")
    ret 1
limits = [boom()]
type Row(level: Level, size: int = boom(), all: [int] = limits, point: Spot? = nil):
    assert size > 0
f take(row: Row, times: int = boom(), list: [Level] = []) -> Item:
    ret Item(times + len(list) + far)
f main():
    boom()
"""


@pytest.mark.parametrize("compiled", [False, True])
def test_of_a_script_of_tools_only_declarations_count(
    saftc: Command, write: Write, folder: Path, compiled: bool
) -> None:
    write(
        "market.py",
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Item:\n    id: int\n",
    )
    write("shapes.saft", 'type Point(x: float)\nwrite_text("made.txt", "x")\nfar = 3\n')
    write("active.saft", ACTIVE)
    if compiled:
        assert saftc("build", "active.saft", "shapes.saft").code == 0
        (folder / "active.saft").unlink()
        (folder / "shapes.saft").unlink()
    write(
        "plan.json",
        {"take": {"row": {"level": "low", "point": {"x": 1}}, "list": ["high"]}},
    )
    done = saftc("build", "plan.json", "--tools", "active", "-o", "-")
    assert (done.code, done.err) == (0, "")
    assert "from active import Item, Point, Row, take\n" in done.out
    assert "def main() -> Item:\n" in done.out
    row = 'Row(level="low", point=Point(x=1.0))'
    assert f'    return take(row={row}, list=["high"])\n' in done.out
    assert not (folder / "made.txt").exists()
    write("plan.json", {"take": {"row": {"level": "deep"}}})
    done = saftc("build", "plan.json", "--tools", "active", "-o", "-")
    assert done.code == 1 and done.err.startswith("error: field 'level' of Row")


def test_functions_of_a_compiled_module_that_are_awaited(saftc: Command, write: Write) -> None:
    write("talk.saft", 'f ask(word: string) -> string:\n    ret $ say {word} $\nprint(ask("a"))\n')
    assert saftc("build", "talk.saft", "--async", "-o", "later.py").code == 0
    write("plan.json", {"ask": "b"})
    done = saftc("build", "plan.json", "--tools", "later", "-o", "-")
    assert (done.code, done.err) == (0, "")
    assert 'async def main() -> str:\n    return await ask("b")\n' in done.out


def test_tools_that_a_script_imports_from_another(
    saftc: Command, write: Write, folder: Path
) -> None:
    write("shapes.saft", "type Point(x: float)\nf origin() -> Point:\n    ret Point(0.0)\n")
    write(
        "geo.saft",
        "from shapes import Point, origin\nf x_of(p: Point) -> float:\n    ret p.x\n"
        "print(x_of(origin()))\n",
    )
    write("plan.json", {"x_of": {"p": {"origin": {}}}})
    done = saftc("build", "plan.json", "--tools", "geo")
    assert (done.code, done.out) == (0, "")
    assert "from geo import origin, x_of\n" in (folder / "plan.py").read_text("utf-8")
    assert sorted(path.name for path in folder.glob("*.py")) == ["geo.py", "plan.py", "shapes.py"]
    write("plan.json", {"x_of": {"p": {"Point": {"x": 1}}}})
    assert "geo import Point, x_of" in saftc("build", "plan.json", "--tools", "geo", "-o", "-").out


def test_conversions_of_a_python_module(saftc: Command, write: Write) -> None:
    write(
        "tools.py",
        "def length(text: str) -> float:\n    return float(len(text))\n\n\n"
        "def half(of: float) -> float:\n    return of / 2\n\n\nconversions = [length]\n",
    )
    write("plan.json", {"half": {"of": "four"}})
    done = saftc("build", "plan.json", "--tools", "tools", "-o", "-")
    assert "    return half(of=length('four'))" in done.out.replace('"', "'")
    write("other.py", "conversions = 3\n")
    done = saftc("build", "plan.json", "--tools", "other", "-o", "-")
    assert done.err == "saftc: `conversions` of other must be a list of functions\n"


def test_what_a_module_has_imported_can_be_called_by_name(saftc: Command, write: Write) -> None:
    write("books.py", "def find(title: str) -> str:\n    return title\n")
    write(
        "tools.py",
        "from books import find\nfrom math import hypot\n\n\ndef own() -> int:\n    return 1\n",
    )
    write("plan.json", {"find": {"title": "Emma"}})
    done = saftc("build", "plan.json", "--tools", "tools", "-o", "-")
    assert "from tools import find\n" in done.out
    write("plan.json", {"fin": {"title": "Emma"}})
    done = saftc("build", "plan.json", "--tools", "tools", "-o", "-")
    assert done.err.startswith("error: unknown function 'fin'\n")


def test_all_mistakes_are_told_with_their_places(
    saftc: Command, write: Write, folder: Path
) -> None:
    write("tools.py", TOOLS)
    write(
        "plan.json",
        '[\n  {"findBook": {"title": "Emma"}},\n  {"add": {"a": "two", "c": 1}}\n]\n',
    )
    done = saftc("build", "plan.json", "--tools", "tools")
    assert done.code == 1
    assert (
        done.err
        == """error: unknown function 'findBook', did you mean find_book?
 --> plan.json:2:3
  |
2 |   {"findBook": {"title": "Emma"}},
  |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

error: parameter 'a' of add: expected integer, got string: "two" is not a number
 --> plan.json:3:17
  |
3 |   {"add": {"a": "two", "c": 1}}
  |                 ^^^^^

error: unknown parameter 'c' of add, which takes a, b
 --> plan.json:3:29
  |
3 |   {"add": {"a": "two", "c": 1}}
  |                             ^

error: missing required parameter 'b' of add
 --> plan.json:3:11
  |
3 |   {"add": {"a": "two", "c": 1}}
  |           ^^^^^^^^^^^^^^^^^^^^
"""
    )
    assert not (folder / "plan.py").exists()


def test_an_ambiguous_plan_is_told_with_those_that_are_not(saftc: Command, write: Write) -> None:
    write("tools.py", "def count(words: list[str]) -> int:\n    return len(words)\n")
    write("plan.json", {"count": {"words": "a,b"}})
    done = saftc("build", "plan.json", "--tools", "tools")
    assert done.code == 1
    assert done.err == (
        'error: "a,b" can become [string] in 2 ways\n'
        " --> plan.json:1:21\n"
        "  |\n"
        '1 | {"count": {"words": "a,b"}}\n'
        "  |                     ^^^^^\n"
        '  split at the commas: {"count": {"words": ["a", "b"]}}\n'
        '  a list of one: {"count": {"words": ["a,b"]}}\n'
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "error: the plan is not JSON: it ends too early\n --> plan.json:1:1\n"),
        ('{"add": [\n', "error: the plan is not JSON: it ends too early\n --> plan.json:1:9\n"),
        ("{'a': 1}", "error: the plan is not JSON: Expecting property name"),
        (b'"\xff"', "error: the plan is not JSON: it is not UTF-8\n --> plan.json:1:2\n"),
        ("NaN", "error: NaN is not a JSON number\n --> plan.json:1:1\n"),
        ('{"a": 1, "a": 2}', "error: duplicate key 'a'\n --> plan.json:1:1\n"),
        ("[" * 40 + "]" * 40, "error: the program is nested deeper than 32\n"),
        ("[" * 100_000, "error: the plan is not JSON: it is nested too deeply\n"),
        ('{"$lett": {}}', "error: unknown form '$lett', did you mean $let?\n"),
        ('{"$ref": "x"}', "error: unknown variable 'x'\n"),
    ],
)
def test_what_is_no_program(saftc: Command, folder: Path, text: str | bytes, said: str) -> None:
    (folder / "tools.py").write_text("def add(a: int, b: int) -> int:\n    return a + b\n")
    (folder / "plan.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    done = saftc("build", "plan.json", "--tools", "tools")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(said)


def test_modules_that_are_not_there_or_cannot_be_used(saftc: Command, write: Write) -> None:
    write("plan.json", {"add": {"a": 1, "b": 2}})
    write("tools.py", "x = 1 / 0\n")
    write("geo.saft", "print(nobody)\n")

    def said(tools: str) -> str:
        done = saftc("build", "plan.json", "--tools", tools)
        assert (done.code, done.out) == (1, "")
        return done.err

    assert said("tool") == "saftc: there is no module tool; did you mean tools?\n"
    assert said("nothing_like_it").startswith(
        "saftc: there is no module nothing_like_it: looked in /"
    )
    assert said("tools") == "saftc: cannot import tools: ZeroDivisionError: division by zero\n"
    assert said("geo") == "saftc: geo.saft has errors: see `saftc check geo.saft`\n"
    assert said("tools.py") == (
        "saftc: --tools takes the name of a module, and tools.py is not one: "
        "write --tools tools\n"
    )
    assert said("a-b") == "saftc: --tools takes the name of a module, and a-b is not one\n"


def test_a_function_that_no_plan_can_call(saftc: Command, write: Write) -> None:
    write(
        "tools.py",
        "def number(a: int) -> int:\n    return a\n\n\ndef one() -> int:\n    return 1\n",
    )
    write("plan.json", {"one": {}})
    assert saftc("build", "plan.json", "--tools", "tools", "-o", "-").code == 0
    write("plan.json", {"number": {"a": 1}})
    done = saftc("build", "plan.json", "--tools", "tools", "-o", "-")
    assert done.err == (
        "saftc: a plan cannot call what tools offers: 'number' cannot be registered: "
        "it is a built-in type\n"
    )


REFUNDS = """/// Pays the price of an order back.
f refund(order: string, amount: float) -> string:
    ret f"{amount} for {order}"

f look(order: string) -> string:
    ret order

"""
APPROVED = [
    'print($ Help with {"A-17"}: you have {look} and {refund:approve}. $)',
    'print($ Help with {"A-17"}. $ with {tools: [look, approve(refund)]})',
    "print(program $ Refund {[1]} with {look} and {refund:approve}. $)",
    "pay = refund\nprint($ Help, with {pay:approve}. $)",
    "for one in [refund]:\n    print($ Help, with {one:approve}. $)",
    "f help(tool: any):\n    ret $ Help, with {tool:approve}. $\nprint(help(refund))",
    "f waits(tool: any, how: any):\n    ret how(tool)\nprint($ {waits(refund, approve)} $)",
]
REFUNDING = '[{"look": {"order": {"refund": {"order": "A-17", "amount": 25}}}}]'
WAITS = f"""error: refund waits for approval, and compiled Python would call it without asking
 --> plan.json:1:21
  |
1 | {REFUNDING}
  |                     {"^" * 43} run the plan itself: `run(Plan.read(...))` asks first
"""


@pytest.mark.parametrize("asks", APPROVED)
@pytest.mark.parametrize("compiled", [False, True])
def test_a_plan_that_calls_what_a_script_has_approved(
    saftc: Command, write: Write, folder: Path, asks: str, compiled: bool
) -> None:
    write("source/bank.saft", f"{REFUNDS}{asks}\n")
    write("source/desk.saft", 'from bank import look, refund\nprint(refund(look("A-17"), 1.0))\n')
    if compiled:
        assert saftc("build", "source/bank.saft", "source/desk.saft", "--out-dir", ".").code == 0
    else:
        (folder / "source/bank.saft").rename(folder / "bank.saft")
        (folder / "source/desk.saft").rename(folder / "desk.saft")
    write("plan.json", REFUNDING)
    for tools in ("bank", "desk"):
        done = saftc("build", "plan.json", "--tools", tools)
        assert (done.code, done.out, done.err) == (1, "", WAITS)
        assert not (folder / "plan.py").exists()
    write("plan.json", '{"look": {"order": "A-17"}}')
    assert saftc("build", "plan.json", "--tools", "bank", "-o", "-").code == 0


@pytest.mark.parametrize(
    "approved",
    [
        "@approve\ndef refund(order: str, amount: float) -> str:\n    return order\n",
        "def refund(order: str, amount: float) -> str:\n    return order\n\n\n"
        "refund = approve(refund)\n",
        "def refund(order: str, amount: float) -> str:\n    return order\n\n\n"
        "pay = approve(refund)\n",
    ],
)
def test_a_plan_that_calls_what_a_python_module_has_approved(
    saftc: Command, write: Write, folder: Path, approved: str
) -> None:
    look = "\n\ndef look(order: str) -> str:\n    return order\n"
    write("tools.py", f"from runtime_support import approve\n\n\n{approved}{look}")
    write("plan.json", REFUNDING)
    done = saftc("build", "plan.json", "--tools", "tools")
    assert (done.code, done.out, done.err) == (1, "", WAITS)
    assert not (folder / "plan.py").exists()


def test_a_conversion_that_is_approved_somewhere(saftc: Command, write: Write) -> None:
    write("geo.saft", GEO + 'print($ Where is {"Oslo"}? {locate:approve} $)\n')
    write("plan.json", CITIES)
    assert saftc("build", "plan.json", "--tools", "geo", "-o", "-").err == (
        "saftc: a plan cannot call what geo offers: "
        "the conversion locate cannot wait for approval\n"
    )


def test_a_default_that_cannot_be_written(saftc: Command, write: Write) -> None:
    write(
        "tools.py",
        "def take(a: int, b: list[int] = [], c: int = 1, /) -> int:  # noqa: B006\n    return c\n",
    )
    write("plan.json", {"take": {"a": 1, "c": 2}})
    done = saftc("build", "plan.json", "--tools", "tools", "-o", "-")
    assert done.err.startswith("error: take takes 'b' by position")
    assert '\n --> plan.json:1:1\n  |\n1 | {"take": {"a": 1, "c": 2}}\n' in done.err


def test_files_are_kept_and_compared_as_those_of_scripts(
    saftc: Command, write: Write, folder: Path
) -> None:
    write("tools.py", TOOLS)
    write("plan.json", {"add": {"a": 1, "b": 2}})
    write("plan.py", "mine = 1\n")
    arguments = ("build", "plan.json", "--tools", "tools")
    done = saftc(*arguments)
    assert done.code == 1
    assert done.err == "saftc: plan.py was not written by saftc; --force overwrites it\n"
    assert (folder / "plan.py").read_text() == "mine = 1\n"
    done = saftc(*arguments, "--check")
    assert (done.code, done.err) == (
        1,
        "plan.py is out of date: run `saftc build plan.json --tools tools`\n",
    )
    assert saftc(*arguments, "--force").code == 0
    assert saftc(*arguments).err == "plan.py is up to date\n"
    write("plan.json", {"add": {"a": 1, "b": 3}})
    done = saftc(*arguments, "--diff")
    assert "-    return add(a=1, b=2)\n+    return add(a=1, b=3)\n" in done.out
    assert saftc(*arguments, "--out-dir", "out").code == 0
    assert (folder / "out/plan.py").exists()


def test_plans_and_scripts_are_built_apart(saftc: Command, write: Write) -> None:
    write("plan.json", 1)
    write("a.saft", "print(1)\n")
    assert saftc("build", "plan.json").err == (
        "saftc: plan.json is a plan: name the module of its functions, --tools MODULE\n"
    )
    assert saftc("build", "plan.json", "a.saft", "--tools", "tools").err == (
        "saftc: --tools is for plans, and a.saft is not a plan: name it NAME.json, "
        "or leave --tools out\n"
    )
    done = saftc("build", "plan.json", "--tools", "tools", "--source-map")
    assert done.err == "saftc: --source-map is for scripts\n"
    assert saftc("build", "gone.json", "--tools", "tools").err == (
        "saftc: there is no file gone.json\n"
    )
