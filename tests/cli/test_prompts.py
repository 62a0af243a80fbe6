"""`saftc prompts`: what it shows is what is sent, and showing it runs nothing."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runtime_support import configure
from runtime_support._core import settings as config
from runtime_support._core.messages import Reply, Request, ToolRequest
from runtime_support._observability.tracing import add_observer
from runtime_support.providers import _server
from saftc.driver import compile_checked
from saftc.previews.python_objects import PythonObjects
from saftc.previews.requests import preview as previewed
from saftc.previews.requests import previewed_calls
from saftc.project.scripts import Scripts
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of
from saftc.types import results
from tests.cli.conftest import Command
from tests.compiler.support import EXAMPLES, GOLDENS, ROOT, compiled_cases, examples
from tests.support.fake_server import FakeServer
from tests.support.wires import WIRES, Say, Speaker, Spoken

pytestmark = pytest.mark.one_python

SCRIPTS = [
    path
    for path in (
        *(case.folder / "in.saft" for case in compiled_cases()),
        *sorted(GOLDENS.glob("*.saft")),
        *examples(),
    )
    if "$" in path.read_text("utf-8")
]
MOST_REQUESTS = 40


class Willing:
    """Answers with the smallest value that is asked for; what it says of yes and no alternates."""

    def __init__(self) -> None:
        self.count = 0

    def complete(self, request: Request) -> Reply:
        self.count += 1
        if self.count > MOST_REQUESTS:
            raise RuntimeError("the script asks for ever")
        returning = [
            ToolRequest(
                tool["function"]["name"],
                json.dumps({"value": self.value(tool["function"]["parameters"], "value")}),
            )
            for tool in request.tools
            if tool["function"]["name"].startswith("__saft_return_")
        ]
        if returning:
            return Reply("", tuple(returning))
        if request.schema is None:
            return Reply("fine")
        return Reply(json.dumps(self.of(request.schema, request.schema)))

    def value(self, schema: dict[str, Any], field: str) -> Any:
        return self.of(schema["properties"][field], schema)

    def of(self, schema: dict[str, Any], root: dict[str, Any]) -> Any:
        if "$ref" in schema:
            return self.of(root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root)
        if "enum" in schema:
            return schema["enum"][0]
        if "anyOf" in schema:
            return self.of(schema["anyOf"][0], root)
        kinds = schema.get("type", "string")
        match kinds if isinstance(kinds, str) else kinds[0]:
            case "integer":
                return 1
            case "number":
                return 1.5
            case "boolean":
                return self.count % 2 == 1
            case "null":
                return None
            case "array" if "prefixItems" in schema:
                return [self.of(item, root) for item in schema["prefixItems"]]
            case "array":
                # What is of its own type again ends here.
                items = schema.get("items", {})
                return [] if "$ref" in items else [self.of(items, root)]
            case "object":
                return {
                    name: self.of(schema["properties"][name], root) for name in schema["required"]
                }
            case _:
                return "word"


@pytest.fixture(autouse=True)
def _configured_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "_configured", {})
    monkeypatch.setattr(sys, "path", [*sys.path])


@pytest.fixture
def sent() -> Iterator[list[dict[str, Any]]]:
    """The first requests of the prompts that run, each with its `place`."""
    events: list[dict[str, Any]] = []
    numbers: set[int] = set()

    def look(event: dict[str, Any]) -> None:
        if event["event"] == "request" and event["prompt"] not in numbers:
            numbers.add(event["prompt"])
            events.append(event)

    remove = add_observer(look)
    configure(provider=Willing(), approver=lambda _: True)
    yield events
    remove()


def shown(saftc: Command, *arguments: str) -> list[dict[str, Any]]:
    done = saftc("prompts", *arguments, "--format", "json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def request_of(event: dict[str, Any]) -> dict[str, Any]:
    """The request of an event, without the conversation that a prompt goes on with."""
    parts = ("model", "messages", "tools", "tool_choice", "schema", "options")
    request = {name: event[name] for name in parts if name in event}
    return {**request, "messages": event["messages"][event["new_from"] :]}


def without_tools_at(holes: list[dict[str, Any]], request: dict[str, Any]) -> dict[str, Any]:
    """A request without the tools that values may be of which the preview says just that."""
    names = {hole["source"] for hole in holes if hole["may_be_function"]}
    tools = [one for one in request.get("tools", ()) if one["function"]["name"] not in names]
    others = {name: part for name, part in request.items() if name != "tools"}
    return {**others, "tools": tools} if tools else others


def fits(expected: Any, found: Any, marks: list[str]) -> bool:
    """Whether the two are the same where `expected` holds no mark."""
    if isinstance(expected, str) and any(mark in expected for mark in marks):
        parts = re.split("|".join(map(re.escape, marks)), expected)
        pattern = "(.*)".join(map(re.escape, parts))
        return expected in marks or re.fullmatch(pattern, found, re.DOTALL) is not None
    if isinstance(expected, dict) and expected.get("type") == "file":
        return "type" in found  # what it is, only its content says
    if isinstance(expected, dict):
        return expected.keys() == found.keys() and all(
            fits(expected[key], found[key], marks) for key in expected
        )
    if isinstance(expected, list):
        return len(expected) == len(found) and all(
            fits(one, other, marks) for one, other in zip(expected, found, strict=True)
        )
    return expected == found and type(expected) is type(found)


def test_it_is_the_text_that_people_read(saftc: Command, folder: Path) -> None:
    (folder / "triage.saft").write_text(
        """type Ticket(
    title: string,      /// at most eight words
    severity: "low" | "high",
)

f triage(mail: string) -> Ticket:
    ret $
        Read this mail:
        {mail}
    $ with {temperature: 0}

f sure(ticket: Ticket) -> bool:
    ret true if $ is {ticket.title} "urgent"? $ else false
"""
    )
    done = saftc("prompts", "triage.saft")
    assert (done.code, done.err) == (0, "")
    assert (
        done.out
        == """triage.saft:7:9: prompt
  user:
    Read this mail:
    «mail»

    Reply with JSON only, no other text, of this form:
    {
      title: string, // at most eight words
      severity: "low" | "high",
    }
  schema:
    {
      "type": "object",
      "properties": {
        "title": {"type": "string", "description": "at most eight words"},
        "severity": {"type": "string", "enum": ["low", "high"]}
      },
      "required": ["title", "severity"],
      "additionalProperties": false
    }
  strict: true
  options:
    {"temperature": 0.0}
  requests: at most 2 (1 + 1 repair)
  overlap: in order, as nothing in this script calls `triage` (line 6); {SEE}

triage.saft:13:17: prompt
  user:
    is «ticket.title» "urgent"?

    Reply with JSON only, no other text, of this form: bool
  schema, as `value` of an object:
    {"type": "boolean"}
  strict: true
  requests: at most 2 (1 + 1 repair)
  overlap: in order, as nothing in this script calls `sure` (line 12); {SEE}
""".replace("{SEE}", "see `saftc prompts` of a script that does")
    )


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ("[{extra: {[string]: float}}]", 'false, as "extra" is a map'),
        ("(int, string)", "false, as the value is a tuple"),
        ("{a: any, b: {[string]: int}}", 'false, as "a" may be anything and "b" is a map'),
        ("{a: int?}", "true"),
    ],
)
def test_it_tells_what_a_server_cannot_enforce(saftc: Command, schema: str, told: str) -> None:
    script = f"x: {schema} = $ one $\nprint(x)\n"
    lines = saftc("prompts", "-", stdin=script).out.splitlines()
    assert [line.strip() for line in lines if "strict:" in line] == [f"strict: {told}"]
    (preview,) = json.loads(saftc("prompts", "-", "--format", "json", stdin=script).out)
    assert preview["enforced"]["is_strict"] == (told == "true")
    assert preview["enforced"]["is_wrapped"] == (not schema.startswith("{"))


EVERYWHERE = """print("this is not run")
write_text("made.txt", "neither is this")
boom = len(env("nothing here"))
f never():
    if false:
        ret $ in a branch of {boom} $
    for x in [1]:
        inner = $ outside: {$ inside {x + 1} $} $
    ret [$ of {y} $ for y in [1, 2]]
"""


def test_every_prompt_is_shown_and_nothing_runs(saftc: Command, folder: Path) -> None:
    (folder / "in.saft").write_text(EVERYWHERE)
    previews = shown(saftc, "in.saft")
    assert [one["position"] for one in previews] == [
        "in.saft:6:13",
        "in.saft:8:17",
        "in.saft:8:29",
        "in.saft:9:10",
    ]
    texts = [one["request"]["messages"][0]["content"] for one in previews]
    assert texts == [
        "in a branch of «boom»",
        "outside: «$ inside {x + 1} $»",
        "inside «x + 1»",
        "of «y»",
    ]
    assert [hole["position"] for hole in previews[2]["holes"]] == ["in.saft:8:39"]
    assert sorted(path.name for path in folder.iterdir()) == ["in.saft"]


EACH_PLACE = """type T(a: string = $ p1 $)
f g(x: string = $ p2 $, y: int = 2):
    if $ p3 $:
        ret 1
    elif $ p4 $ and not $ p5 $:
        ret 2
    while $ p6 $:
        x = x + $ p7 $
    z = [$ p8 {w} $ for w in $ p9 $.toolCalls if $ p10 $]
    assert $ p11 $, $ p12 $
    {a: int, b: string} = $ p13 $ with {system: $ p14 $}
    for q in [$ p15 $]:
        print(q[0], $ p16 $[0], $ p17 $.toolCalls, {k: $ p18 $}, ($ p19 $, $ p20 $) == (1, 2))
    ret $ p21 $ if $ p22 $ else g($ p23 $, y: len($ p24 $))
$ p25 $
kept = $ p26 $
print(kept.toolCalls, kept, g, T, -1 + 2, "a" + $ p27 $ + "b", $ p28 $ in ["x"])
"""


def test_prompts_in_places_of_every_kind(saftc: Command) -> None:
    previews = json.loads(saftc("prompts", "-", "--format", "json", stdin=EACH_PLACE).out)
    texts = [one["request"]["messages"][-1]["content"].split()[0] for one in previews]
    assert texts == [f"p{number}" for number in range(1, 29)]


def test_defaults_of_the_script_are_not_evaluated(saftc: Command) -> None:
    script = """f boom() -> int:
    ret write()
f write():
    write_text("made.txt", "x")
    ret 1
type Row(id: int, size: int = boom(), tags: [string] = [])
/// Looks a row up.
f look_up(id: int, depth: int = boom()) -> Row:
    ret Row(id)
x: Row = $ find {look_up} $
"""
    (preview,) = json.loads(saftc("prompts", "-", "--format", "json", stdin=script).out)
    (tool,) = preview["request"]["tools"]
    assert tool["function"]["description"] == "Looks a row up."
    assert tool["function"]["parameters"]["required"] == ["id"]
    assert list(preview["request"]["schema"]["properties"]) == ["id", "size", "tags"]


def tools_of(preview: dict[str, Any]) -> dict[str, Any]:
    tools = preview["request"].get("tools", [])
    return {tool["function"]["name"]: tool["function"] for tool in tools}


FUNCTIONS = """f outer(word: string):
    /// Counts letters.
    f count(letter: string) -> int:
        ret 1
    alias = count
    ret $ {count} {alias} {upper} {split} {City} {(upper)} {[count][0]} $
type City(name: string)
"""


def test_functions_are_tools_wherever_they_are_from(saftc: Command, folder: Path) -> None:
    (folder / "in.saft").write_text(FUNCTIONS)
    (preview,) = shown(saftc, "in.saft")
    tools = tools_of(preview)
    assert list(tools) == ["count", "alias", "upper", "split", "City", "tool_1"]
    assert tools["tool_1"]["description"] == "Counts letters."
    assert tools["count"]["description"] == tools["alias"]["description"] == "Counts letters."
    assert tools["City"]["parameters"]["required"] == ["name"]
    assert preview["holes"] == preview["notes"] == []


def test_what_may_be_a_function_is_said(saftc: Command, folder: Path) -> None:
    (folder / "in.saft").write_text(
        "f up(a: int):\n    ret a\nf down(b: string):\n    ret b\n"
        "f ask(c: bool, given):\n    one = up if c else down\n"
        "    ret $ use {one} or {given} $\nprint(ask(true, up))\n"
    )
    (preview,) = shown(saftc, "in.saft")
    assert preview["request"]["messages"][0]["content"] == "use one or «given»"
    assert tools_of(preview) == {"one": {"name": "one", "parameters": "«one»"}}
    assert [hole["may_be_function"] for hole in preview["holes"]] == [False, True]
    assert preview["notes"] == [
        "`one` is the function `up` or `down`",
        "«given» is a tool's name instead, if it is a function; its calls wait for approval if "
        "`approve` made it",
    ]
    assert "  note: `one` is the function `up` or `down`\n" in saftc("prompts", "in.saft").out


MARKET = '''
"""The market."""
from __future__ import annotations
import functools
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field
from datetime import date
from decimal import Decimal
from enum import Enum, IntEnum
from typing import Annotated, Generic, Literal, NamedTuple, NewType, NotRequired, TypedDict, TypeVar
import uuid

import pydantic as pd
from pydantic import BaseModel, ConfigDict, Field

from codes_of_test import *

print("the module runs")
T = TypeVar("T")
Severity = Literal["low", "high"]
Number = NewType("Number", int)
PATTERN = "^[A-Z]{3}$"

class Color(Enum):
    """How it looks."""
    RED = "red"
    BLUE = "blue"

class Level(IntEnum):
    LOW = 1
    HIGH = 2

class Money(BaseModel):
    model_config = ConfigDict(extra="forbid")
    amount: Decimal = Field(gt=0, description="in the currency")
    currency: str = Field("EUR", pattern=PATTERN)
    code: Code = Code.B

class Item(BaseModel):
    """A thing to sell."""
    class Size(Enum):
        S = "s"
        L = "l"

    id: uuid.UUID = Field(default_factory=uuid.uuid4)
    name: Annotated[str, Field(min_length=1)]
    size: Size = Size.L
    price: Money
    color: Color | None = None
    made: date
    alias: int = Field(alias="otherName", default=3)
    parts: list[Item] = []
    level: Level = Level.LOW
    tags: dict[str, "Color"] = Field(default_factory=lambda: {})
    _cache: object = LIMIT

    @pd.field_validator("name")
    @classmethod
    def check(cls, value: str) -> str:
        return value

class Special(Item):
    discount: float = Field(default=0.5, ge=0, le=1)

class Page(BaseModel, Generic[T]):
    items: list[T]

class Found(BaseModel):
    page: Page[Special]

@dataclass(frozen=True)
class Node:
    """A tree."""
    name: str
    color: Color
    below: list[Node] = field(default_factory=list)
    leaf: Leaf | None = None

@dataclass
class Leaf:
    node: Node
    _: KW_ONLY
    weight: float = 1.0
    number: Number = Number(3)

class Row(TypedDict):
    """A row."""
    id: int
    note: NotRequired[str]
    severity: Severity

class Pair(NamedTuple):
    left: int
    right: float = 2.0

def find_items(
    query: str, most: int = 10, *, colors: Sequence[Color] = (), near: Pair | None = None
) -> list[Item]:
    """Finds items.

    query: what is looked for
    """
    return []

async def fetch(url: str, rows: list[Row], *rest: int) -> str:
    """Fetches."""
    return url

@functools.lru_cache(maxsize=3)
def cached(x: Annotated[int, "how many"], plain=LIMIT) -> int:
    return x

class Client:
    """A client."""
    def __init__(self, url: str) -> None:
        self.url = url

    def get(self, path: str) -> Row:
        """Gets."""
        raise NotImplementedError

    @staticmethod
    def of(number: int) -> "Client":
        raise NotImplementedError

client = Client("x")
limit = 3
'''
CODES = """from enum import StrEnum, auto

class Code(StrEnum):
    A = auto()
    B = auto()

LIMIT = 3
"""
OF_MARKET = """import market_of_test as market
from market_of_test import Item, Node, Row, Color, Level, Pair, Found, find_items, fetch, cached
from market_of_test import client, limit, Client

item: Item = $ an item {find_items} {fetch} {cached} {limit} $
node: Node = $ a node {client.get} {Client} {Client.of} {Pair} $
rows: [Row] = $ rows {market.find_items} $
color: Color = $ color $
level: Level? = $ level $
{a: Pair, b: Found} = $ both $
print(item, node, rows, color, level, a, b)
"""


def test_python_is_known_without_being_run(
    saftc: Command, folder: Path, sent: list[dict[str, Any]]
) -> None:
    (folder / "market_of_test.py").write_text(MARKET)
    (folder / "codes_of_test.py").write_text(CODES)
    (folder / "in.saft").write_text(OF_MARKET)
    read = shown(saftc, "in.saft")
    assert [one["notes"] for one in read] == [[]] * 6
    done = saftc("prompts", "in.saft", "--format", "json", "--import")
    assert done.out.startswith("the module runs\n[")
    assert read == json.loads(done.out.removeprefix("the module runs\n"))
    assert list(tools_of(read[1])) == ["tool_1", "Client", "tool_2", "Pair"]
    saftc("run", "in.saft", "--no-overlap")
    first = next(event for event in sent if event["place"] == read[0]["position"])
    marks = [hole["mark"] for hole in read[0]["holes"]]
    assert marks == ["«limit»"]
    assert fits(read[0]["request"], request_of(first), marks)


@pytest.mark.parametrize(
    "said",
    [
        "T = typing.ForwardRef({text})",
        "T = typing.TypedDict('T', {{'a': {text}}})",
        "T = typing.get_type_hints({text})",
        "T = typing.TypeVar('T', bound={text})",
        "class T(BaseModel):\n    a: {text}",
        "class T(BaseModel):\n    a: list[{text}] = Field(default_factory={code})",
        "@dataclass\nclass T:\n    a: typing.Optional[{text}] = {code}",
        "@{code}\nclass T: pass",
        "class T({code}): pass",
        "class T(BaseModel, alias={code}):\n    a: Annotated[int, {code}]",
        "def T(a: {text} = {code}): pass",
    ],
)
def test_no_text_of_python_is_run_as_code(saftc: Command, folder: Path, said: str) -> None:
    code = "__import__('pathlib').Path('made').touch()"
    (folder / "hostile_of_test.py").write_text(
        "import typing\nfrom dataclasses import dataclass\nfrom typing import Annotated\n"
        "from pydantic import BaseModel, Field\n"
        + said.format(text=repr(code), code=code)
        + "\ndef use(given: T, others: list[T]) -> T: ...\n"
    )
    (folder / "in.saft").write_text(
        "from hostile_of_test import T, use\nprint($ use {use} and {T} $)\n"
    )
    assert saftc("prompts", "in.saft").code in (0, 1)
    assert not (folder / "made").exists()


def test_what_only_running_python_tells_is_said(saftc: Command, folder: Path) -> None:
    (folder / "weather_of_test.py").write_text(
        """import os
from dataclasses import dataclass, field
from pydantic import BaseModel, Field

print("imported")

def registered(function): return function
def limits(): return {"gt": 0}
def chosen(): return int
Limit = chosen()
class Own:
    @classmethod
    def __get_pydantic_core_schema__(cls, source, handler): return handler(str)
class Place(BaseModel):
    name: str = Field(os.getenv("PLACE", "here"), max_length=int(os.getenv("MOST", "9")))
    own: Own | None = None
class Report(BaseModel):
    model_config = dict(title=os.getenv("TITLE", "a"))
    place: Place
    city: str = os.getenv("CITY", "Rome")
    count: int = Field(**limits())
@registered
def forecast(city: str) -> str:
    "The weather."
    return city
def sure(city: str, by: Limit = 1) -> Report: "Sure."
"""
    )
    (folder / "in.saft").write_text(
        "from weather_of_test import forecast as look, sure, Report\n"
        "x: Report = $ use {look} or {sure} $\nprint(x)\n"
    )
    script = str(folder / "in.saft")
    done = saftc("prompts", script, "--format", "json")
    (first,) = json.loads(done.out)
    assert first["request"]["messages"][0]["content"].startswith("use «look» or sure\n")
    assert list(tools_of(first)) == ["sure"]
    said = " is known when its Python module runs: see --import"
    assert [note.removesuffix(said) for note in first["notes"]] == [
        "`look`",
        "«look» is a tool's name instead, if it is a function; its calls wait for approval if "
        "`approve` made it",
        "the type of `by` of `sure`",
        "the `model_config` of `Report`",
        "what is said of `Place.name`",
        "the type of `Place.own`",
        "the default of `Report.city`",
        "what is said of `Report.count`",
    ]
    done = saftc("prompts", script, "--format", "json", "--import")
    printed, _, rest = done.out.partition("\n")
    (first,) = json.loads(rest)
    assert printed == "imported"
    assert list(tools_of(first)) == ["look", "sure"]
    assert tools_of(first)["look"]["description"] == "The weather."
    assert first["notes"] == []


def test_what_only_the_body_of_a_method_sets_is_a_hole(saftc: Command, folder: Path) -> None:
    (folder / "store_of_test.py").write_text(
        "class Store:\n"
        "    def __init__(self, url: str) -> None:\n        self.url = url\n"
        "    def find(self, name: str) -> str:\n        'Finds.'\n        return name\n"
        "store = Store('x')\n"
    )
    (folder / "in.saft").write_text(
        "from store_of_test import store\nprint($ look at {store.url} by {store.find} $)\n"
    )
    (first,) = shown(saftc, "in.saft")
    assert [hole["mark"] for hole in first["holes"]] == ["«store.url»"]
    assert first["notes"][0].startswith("`store.url` is known when its Python module runs")
    assert [one["description"] for one in tools_of(first).values()] == ["Finds."]


@pytest.mark.parametrize(
    ("imported", "written"),
    [
        ("import open_ended", "open_ended.tua"),
        ("from open_ended import tua", "tua"),
        ("import math as m", "m.pi.x"),
    ],
)
def test_what_a_python_module_lacks_is_an_error(
    saftc: Command, folder: Path, imported: str, written: str
) -> None:
    (folder / "open_ended.py").write_text("globals()['tau'] = 6.3\n")
    (folder / "in.saft").write_text(f"{imported}\nprint($ use {{{written}}} $)\n")
    done = saftc("prompts", "in.saft", "--import")
    assert (done.code, done.out) == (1, "")
    assert done.err == f"saftc: in.saft:2:14: the Python module has no `{written}`\n"


def test_tools_and_types_of_sibling_scripts(saftc: Command, folder: Path) -> None:
    (folder / "shapes.saft").write_text(
        'print("not run")\ntype Point(x: float, y: float)\n'
        "f norm(p: Point) -> float:\n    ret p.x + p.y\nslow = {temperature: 0.5}\n"
    )
    (folder / "in.saft").write_text(
        "from shapes import Point, norm, slow\nimport shapes\n"
        "x: Point = $ where? {norm} {shapes.norm} $ with slow\n"
    )
    (preview,) = shown(saftc, "in.saft")
    assert list(tools_of(preview)) == ["norm", "tool_1"]
    assert preview["request"]["schema"]["required"] == ["x", "y"]
    assert preview["request"]["options"] == {"temperature": 0.5}


SHAPES = """from market import Item
/// A place.
type Place = {
    name: string,      /// what it is called
    inside: [Place],
}
type Size = "s" | "m" | 3
type Box(size: Size, place: Place?, next: [Box] = [], tags: [string] = ["x"])
conv boxed(text: string) -> Box:
    ret Box("s", nil)
f pack(class: int, list: [Box], from: string? = nil) -> Item:
    ret Item(1)
"""
DECLARED = """from shapes import Box, Place, boxed, pack
import shapes
f loose(
    a,     /// said of a parameter without a type
    b = boxed("b"),
):
    ret a
f sees(x: any):
    ret loose(x)
f told(word: string):
    kept = $ say {word} $
    ret kept
f ask(word: string) -> Box:
    answer = told(word)
    print(answer.toolCalls)
    /// Packs here.
    f inner(o: {a: {b: int}}, p: {[string]: Size?}, q: ([int], bool)):
        ret $ inside {inner} {shapes.pack} {Box} {loose} $
    print(inner({a: {b: 1}}, {}, ([1], true)))
    box: Box | {x: int} | {[string]: int} | nil = $ pack $
    {
        name: string,      /// of the place
        place: Place?,
    } = $ where $
    print(name, place, box, sees(1))
    ret program $ use {pack} and {told} $
type Size = shapes.Size
print(ask("a"), boxed)
"""


def test_what_is_declared_is_shown_as_it_is_sent(
    saftc: Command, folder: Path, sent: list[dict[str, Any]]
) -> None:
    (folder / "market.py").write_text(
        "from dataclasses import dataclass\n@dataclass\nclass Item:\n    id: int\n"
    )
    (folder / "shapes.saft").write_text(SHAPES)
    (folder / "in.saft").write_text(DECLARED)
    by_place = {one["position"]: one for one in shown(saftc, "in.saft")}
    saftc("run", "in.saft", "--no-overlap")
    assert sorted(event["place"] for event in sent) == sorted(by_place)
    for event in sent:
        preview = by_place[event["place"]]
        marks = [hole["mark"] for hole in preview["holes"]]
        assert fits(preview["request"], request_of(event), marks)


def test_options_are_shown_as_far_as_they_are_known(saftc: Command, folder: Path) -> None:
    (folder / "in.saft").write_text(
        'style = "Be brief."\n'
        'fast = {temperature: 0, system: style, model: "m"}\n'
        "f ask(given: {seed: int}, t: float):\n"
        "    a = $ a $ with fast\n"
        '    b = $ b $ with {temperature: t, stop: ["x"]}\n'
        "    ret a + b + $ c $ with given\n"
        "print(ask({seed: 1}, 0.5))\n"
    )
    first, second, third = shown(saftc, "in.saft")
    assert first["request"] == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "a"},
        ],
        "options": {"temperature": 0.0},
    }
    assert second["request"]["options"] == {"temperature": "«t»", "stop": ["x"]}
    assert [hole["mark"] for hole in second["holes"]] == ["«t»"]
    assert third["notes"] == ["the options are those of `given` when it runs"]
    assert "options" not in third["request"]


def test_an_earlier_conversation_is_named(saftc: Command, folder: Path) -> None:
    (folder / "in.saft").write_text("a = $ one $\nprint($ two $ after a)\n")
    first, second = shown(saftc, "in.saft")
    assert first["notes"] == []
    assert second["request"]["messages"] == [{"role": "user", "content": "two"}]
    assert second["notes"] == ["the conversation of `a` goes before it"]


def test_tools_of_a_list_and_of_a_conversation_are_shown(saftc: Command, folder: Path) -> None:
    (folder / "in.saft").write_text(
        "f look(x: int) -> int: ret x\nf cancel(): ret 1\nf other(): ret 2\n"
        'a = $ one $ with {tools: [look], model: "small", temperature: 0}\n'
        "for i in range(2):\n    a = $ two {cancel} $ after a\n"
        'print($ 3 $ after a with {tools: [other], model: "large"})\n'
        "print($ 4 $ after a with {tools: []})\n"
        'if a == "x":\n    b = $ five $ with {tools: [look]}\n'
        'else:\n    b = $ six {other} $ with {model: "large"}\nprint($ 7 $ after b)\n'
    )
    asked = shown(saftc, "in.saft")
    requests = [one["request"] for one in asked]
    assert [
        (one.get("model"), [tool["function"]["name"] for tool in one.get("tools", [])])
        for one in requests
    ] == [
        ("small", ["look"]),
        ("small", ["cancel", "look"]),
        ("large", ["look", "cancel", "other"]),
        ("small", []),
        (None, ["look"]),
        ("large", ["other"]),
        (None, ["look", "other"]),
    ]
    assert "`model` is that of `b`, where it was set" in asked[-1]["notes"]
    assert "options" not in requests[1]


def test_a_name_that_changes_is_no_known_option(saftc: Command, folder: Path) -> None:
    (folder / "in.saft").write_text(
        "heat = 0.5\nfast = {seed: 1}\nif $ yes? $:\n    heat = 0.7\n    fast = {seed: 2}\n"
        "print($ a $ with {temperature: heat})\nprint($ b $ with fast)\n"
    )
    _, first, second = shown(saftc, "in.saft")
    assert first["request"]["options"] == {"temperature": "«heat»"}
    assert "options" not in second["request"]


def test_settings_of_the_surroundings_count(
    saftc: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "in.saft").write_text("print($ hello $)\n")
    monkeypatch.setenv("SAFT_MODEL", "some-model")
    (preview,) = shown(saftc, "in.saft")
    assert preview["request"]["model"] == "some-model"


def test_do_destructuring_and_programs(saftc: Command, folder: Path) -> None:
    (folder / "in.saft").write_text(
        "f gap(a: float, b: float = 1.0) -> float:\n    ret a - b\n"
        "conv of(word: string) -> float:\n    ret 1.0\n"
        "{name: string, age: int?} = do $ who? {gap} $\n"
        "x: float = program $ use {gap} on {name} $\n"
        "plan: program = program $ {gap} $\nprint(x, plan, age)\n"
    )
    pattern, valued, kept = shown(saftc, "in.saft")
    assert [one["mode"] for one in (pattern, valued, kept)] == ["do", "program", "program"]
    assert list(tools_of(pattern)) == ["gap", "__saft_return_name", "__saft_return_age"]
    text = valued["request"]["messages"][0]["content"]
    assert text.startswith("use gap on «name»\n\nAnswer with one program")
    assert "gap(a: number, b?: number) -> number\nconv of(word: string) -> number" in text
    assert "$defs" in valued["request"]["schema"]
    assert "The value of the program" not in kept["request"]["messages"][0]["content"]


def test_pictures_files_and_dataframes(saftc: Command, folder: Path) -> None:
    (folder / "in.saft").write_text(
        'photo = image("photo.png")\npages = file("pages.pdf")\nrows = read("rows.csv")\n'
        "print($ compare {photo} with {pages} by {rows}. $)\n"
    )
    (preview,) = shown(saftc, "in.saft")
    (message,) = preview["request"]["messages"]
    assert message["content"] == [
        {"type": "text", "text": "compare "},
        {"type": "image_url", "image_url": {"url": "«photo»"}},
        {"type": "text", "text": " with "},
        {"type": "file", "file": {"filename": "«pages»", "file_data": "«pages»"}},
        {"type": "text", "text": " by «rows»."},
    ]
    assert preview["notes"] == ["«pages» is sent as what it is: a file, a sound, a picture or text"]


def test_types_of_parameters_that_need_a_module(saftc: Command, folder: Path) -> None:
    (folder / "in.saft").write_text(
        "f best(of: dataframe, by: string):\n    ret max(of, by)\n"
        "f near(by: string) -> dataframe:\n    ret read(by)\nprint($ {near} $, best)\n"
    )
    (preview,) = shown(saftc, "in.saft")
    assert list(tools_of(preview)) == ["near"]


def test_marks_are_told_from_the_text(saftc: Command, folder: Path) -> None:
    (folder / "in.saft").write_text(
        'x = "a"\ny = "b"\n'
        'print($ «x» is not {x}, \\{x\\} neither; {y:raw}, {"as it is"} {[1, -2]} $)\n'
    )
    (preview,) = shown(saftc, "in.saft")
    assert preview["request"]["messages"][0]["content"] == (
        '«x» is not ««x»», {x} neither; «y», "as it is" [1,-2]'
    )
    assert [hole["mark"] for hole in preview["holes"]] == ["««x»»", "«y»"]


def test_a_prompt_that_can_never_be_sent(saftc: Command, folder: Path) -> None:
    long = "f" * 65
    (folder / "in.saft").write_text(f"f {long}():\n    ret 1\nprint($ use {{{long}}} $)\n")
    done = saftc("prompts", "in.saft")
    assert done.code == 1
    assert done.out == (
        f"in.saft:3:7: prompt\n  cannot be sent: `{long}` cannot be a tool's name: "
        "it has more than 64 characters\n"
    )


def test_scripts_without_prompts_and_with_errors(saftc: Command, folder: Path) -> None:
    (folder / "none.saft").write_text("print(1)\n")
    done = saftc("prompts", "none.saft")
    assert (done.code, done.out, done.err) == (0, "", "none.saft has no prompts\n")
    assert saftc("prompts", "none.saft", "--format", "json").out == "[]\n"
    (folder / "wrong.saft").write_text("print(nobody)\n")
    done = saftc("prompts", "wrong.saft")
    assert done.code == 1 and "error[SAFT0203]" in done.err and done.out == ""
    done = saftc("prompts", "missing.saft")
    assert (done.code, done.err) == (1, "saftc: there is no file missing.saft\n")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_what_is_shown_is_what_is_sent(
    script: Path, saftc: Command, sent: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The examples read files beside them.
    start = ROOT if script.parent == EXAMPLES else script.parent
    monkeypatch.chdir(start)
    name = str(script.relative_to(start))
    by_place = {one["position"]: one for one in shown(saftc, name)}
    done = saftc("run", name)
    own = [event for event in sent if event["place"].startswith(name)]
    for event in own:
        # What is asked in a formatted string is placed where the string begins.
        place = event["place"]
        previews = [by_place[place]] if place in by_place else by_place.values()
        assert place in by_place or script.parent.parent.name == "formatted_string"
        assert any(
            fits(
                one["request"],
                without_tools_at(one["holes"], request_of(event)),
                [hole["mark"] for hole in one["holes"]],
            )
            for one in previews
        ), (previews, event)
    reached = {event["place"] for event in own}
    # Some cases read files that are not there, stop with a failure of their own, or catch it.
    is_stopped = done.err.startswith("error") or "try:" in script.read_text()
    assert reached or not by_place or is_stopped


def test_each_place_that_asks_is_told_of(saftc: Command, folder: Path) -> None:
    (folder / "a.saft").write_text(
        """f doubt(x: string) -> string:
    ret $ What speaks against {x}? $
f main():
    for x in ["a", "b"]:
        print(doubt(x))
    for x in ["a", "b"]:
        print(x)
        assert len(x) > 0
        print(doubt(x))
    for x in ["a"]:
        for y in ["b"]:
            print($ of {x} {y} $)
            assert len(y) > 0
    a = $ one $
    b = $ two $
    c = doubt("c")
    print(a, b, c)
""",
    )
    told: list[list[str]] = []
    for line in saftc("prompts", "a.saft").out.splitlines():
        if line.endswith(": prompt"):
            told.append([])
        elif line.startswith("  overlap: "):
            told[-1].append(line.removeprefix("  overlap: "))
    head = "move it to the head of the loop, above its prompts and prints"
    way_out = f"{head}, or to another loop below"
    assert told == [
        [
            "asked ahead, for the next items of the loop (line 4)",
            "asked ahead, with those that are beside it (line 16)",
            f"in order, as `assert` may stop the script (line 8); {way_out}",
        ],
        [f"in order, as `assert` may stop the script (line 13); {way_out}"],
        # Its own line is not beside it.
        ["asked ahead, with those that are beside it (lines 15, 16)"],
        ["asked ahead, with those that are beside it (lines 14, 16)"],
    ]


@pytest.mark.parametrize("name", ["failures", "heads", "in_order", "look_ups"])
def test_what_keeps_a_prompt_in_order_comes_with_the_way_out(saftc: Command, name: str) -> None:
    path = Path(__file__).parents[1] / "cases" / "overlap" / name / "in.saft"
    lines = saftc("prompts", str(path)).out.splitlines()
    told = [line for line in lines if line.startswith("  overlap: in order, as ")]
    assert told
    assert [line for line in told if not re.search(r" \(lines? [\d, ]+\); \w", line)] == []


def overlaps_of(saftc: Command, file: str) -> list[str]:
    lines = saftc("prompts", file).out.split("\n")
    return [line.removeprefix("  overlap: ") for line in lines if line.startswith("  overlap: ")]


# What is told of the one prompt or call that has a mark behind it, and of which line.
TOLD_OF = {
    "alone": (
        "one = $ a $\nprint(one)\n",
        "by itself, as there is no other prompt beside it (line 1)",
    ),
    "needed": (
        "one = $ a $\ntwo = $ b {one} $\nprint(two)\n",
        "in order, as it needs `one` (line 1); ask for both in one prompt",
    ),
    "a statement between": (
        "one = $ a $\nprint(one)\ntwo = $ b $\nprint(two)\n",
        "in order, as this is between it and the next prompt (line 2); "
        "put the prompts directly below each other",
    ),
    "without a name": (
        "one = $ a $\nprint($ b $)\nprint(one)\n",
        "in order, as only prompts and calls whose answers get names run concurrently (line 1); "
        "give each answer a name, one directly below the other",
    ),
    "one expression": (
        "print($ a $, $ b $)\n",
        "in order, as one expression sends its prompts one by one, from left to right (line 1); "
        "give each answer a name, one directly below the other",
    ),
    "while": (
        'while $ go on? $ == "yes":\n    print($ a $)\n',
        "in order, as each iteration of `while` may need the one before (line 1); "
        "loop over a list with `for`",
    ),
    "in a branch": (
        "x = 1\nif x == 1:\n    print($ a $)\nprint($ b $)\n",
        "in order, as only prompts and calls whose answers get names run concurrently (line 2); "
        "give each answer a name, one directly below the other",
    ),
    "called once": (
        "f a() -> string:\n    ret $ a $\nx = 1\ny = a()\nprint(x, y)\n",
        "by itself, as there is no other prompt beside the call of `a` (line 4)",
    ),
    "a tool": (
        "f a() -> string:\n    ret $ a $\nprint($ Use {a}. $)\n",
        "by itself, as `a` is a tool: the model decides when it runs (line 1)",
    ),
    "never called": (
        "f a() -> string:\n    ret $ a $\n",
        "in order, as nothing in this script calls `a` (line 1); "
        "see `saftc prompts` of a script that does",
    ),
    "several types": (
        'one: "a" | "b" = $ a $\ntwo = $ b $\nprint(one, two)\n',
        "in order, as `one` has one of several types (line 1); move the prompt into a function",
    ),
    "a whole result": (
        "one = $ a $\ntwo = $ b $\nprint(one.usage, two)\n",
        "in order, as `one` holds the whole result, with its history (line 1); "
        "bind its value alone",
    ),
}


@pytest.mark.parametrize("name", TOLD_OF)
def test_each_prompt_is_told_of_where_nothing_was_decided(
    saftc: Command, folder: Path, name: str
) -> None:
    text, told = TOLD_OF[name]
    (folder / "a.saft").write_text(text)
    assert told in overlaps_of(saftc, "a.saft")


def test_calls_by_which_another_script_asks_are_told_of(saftc: Command, folder: Path) -> None:
    (folder / "triage.saft").write_text(
        "f triage(mail: string) -> string:\n    ret $ Triage {mail} $\n"
        "f strict(mail: string) -> string:\n    assert mail != \"\"\n    ret $ Triage {mail} $\n"
        "f size(mail: string) -> int:\n    ret len(mail)\n"
    )
    (folder / "score.saft").write_text(
        "from triage import triage, size\nimport triage as desk\n"
        'mails = ["a", "b"]\n'
        "for mail in mails:\n    print(triage(mail), size(mail))\n"
        "print([desk.strict(mail) for mail in mails])\n"
        "print(triage(mails[0]))\n"
    )
    done = saftc("prompts", "score.saft")
    assert (done.code, done.err) == (0, "")
    assert done.out == (
        "score.saft:5:11: call of a function of another script, which asks\n"
        "  overlap: asked ahead, for the next items of the loop (line 4)\n\n"
        "score.saft:6:8: call of a function of another script, which asks\n"
        "  overlap: in order, as `assert` may stop the script (line 4 of triage.saft); "
        "write a loop, with this at its head\n\n"
        "score.saft:7:7: call of a function of another script, which asks\n"
        "  overlap: in order, as only prompts and calls whose answers get names run concurrently "
        "(line 6); give each answer a name, one directly below the other\n"
    )
    found = json.loads(saftc("prompts", "score.saft", "--format", "json").out)
    assert [one["mode"] for one in found] == ["call"] * 3
    assert all(one["overlap"] for one in found)


def test_a_class_with_code_of_its_own_is_asked_for_ahead(saftc: Command, folder: Path) -> None:
    (folder / "lib.py").write_text(
        "from pydantic import BaseModel, field_validator\n\n\nclass A(BaseModel):\n    x: str\n\n"
        '    @field_validator("x")\n    def check(cls, x: str) -> str:\n        return x\n'
    )
    (folder / "a.saft").write_text(
        "from lib import A\nf one(x: string) -> A:\n    ret $ {x} $\n"
        'print([one(x).x for x in ["a", "b"]])\n'
    )
    assert overlaps_of(saftc, "a.saft") == ["asked ahead, for several items at once (line 4)"]


_SCRIPT = re.compile(r"(?:^`([\w./]+)`:\n\n)?^```(\w+)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize(
    "folder_of",
    ["examples", "tests/goldens", "saftc/play/tour", "saftc/play/examples", "benchmarks/scripts"],
)
def test_every_prompt_of_the_scripts_has_its_line(folder_of: str) -> None:
    paths = sorted((ROOT / folder_of).glob("*.saft"))
    assert paths
    assert [place for path in paths for place in without_line(path)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_prompt_of_the_pages_has_its_line(page: Path, tmp_path: Path) -> None:
    blocks = _SCRIPT.findall(page.read_text("utf-8"))
    for name, _, text in blocks:
        if name and "/" not in name:
            (tmp_path / name).write_text(text, "utf-8")
    for number, (_, language, text) in enumerate(blocks):
        if language == "saft" and "$" in text:
            path = tmp_path / f"block_{number}.saft"
            path.write_text(text, "utf-8")
            assert without_line(path) == []


def without_line(path: Path) -> list[str]:
    """The prompts of a script, and calls of scripts that ask, of whose overlap nothing is told."""
    scripts = Scripts()
    compiled = compile_checked(scripts.check(str(path)))
    if compiled.module is None:
        return []
    previews = previewed(compiled, PythonObjects(scripts.of(str(path)).library))
    assert len(previews) == len(nodes_of(compiled.checked.module, n.Prompt))
    previews += previewed_calls(compiled)
    return [one.position for one in previews if not one.overlap and one.error is None]


# As the server gets it

SENT = """\
type Ticket(title: string, severity: "low" | "high", extra: {[string]: float})

/// Looks a word up.
f look_up(word: string, times: int?) -> string: ret word

f triage(mail: string, note: string, number: int) -> Ticket:
    ret $
        Read "this" mail {number}, with {look_up}:
        {mail}
        {note:raw}
    $ with {temperature: 0, reasoning_effort: "low", system: "Be brief.", max_tokens: 99}

print(triage("Where is\\n\\"it\\"? é", "Say \\"é\\".\\n", 7).title)
text = "a"
print($ one {text:raw} $)
for word in ["x", "y"]:
    print(stream $ Say {word}. $)
{name: string, age: int} = do $ fields $
print(name, age)
"""
# What stands in the places of its holes: JSON, but for those that are raw.
VALUES = {
    "{mail}": json.dumps('Where is\n"it"? é', ensure_ascii=False),
    "{note}": 'Say "é".\n',
    "{number}": "7",
    "{text}": "a",
    "{word}": '"x"',
}


@pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.NAME)
@pytest.mark.parametrize("is_openai", [False, True])
def test_what_the_server_gets(
    saftc: Command,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    wire: Spoken,
    is_openai: bool,
) -> None:
    lacks = results.WIRES[wire.NAME]
    sent = SENT.replace("temperature: 0, ", "") if "temperature" in lacks else SENT
    (folder / "triage.saft").write_text(sent)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdefghij")
    monkeypatch.setenv("SAFT_API", wire.NAME)
    monkeypatch.setenv("SAFT_MODEL", "gpt-5.6")
    fields = (("__saft_return_name", {"value": "Ada"}), ("__saft_return_age", {"value": 36}))
    ticket = Say('{"title": "It", "severity": "low", "extra": {}}')
    with FakeServer() as server:
        monkeypatch.setenv("SAFT_BASE_URL", server.url)
        if is_openai:
            monkeypatch.setattr(_server, "OPENAI_HOST", "127.0.0.1")
        previews = json.loads(saftc("prompts", "triage.saft", "--raw", "--format", "json").out)
        text = saftc("prompts", "triage.saft", "--raw").out
        assert server.requests == []

        def answer(body: dict[str, Any]) -> Any:
            asked = json.dumps(body)
            say = Say(calls=fields) if "__saft_return" in asked else Say("fine")
            return Speaker(wire, [ticket if "this" in asked else say])(body)

        server.responder = answer
        done = saftc("run", "triage.saft")
        assert done.out == "It\nfine\nfine\nfine\nAda 36\n", done.err
        got = {one.content: one for one in server.requests}
    assert len(previews) == 4 and len(got) == 5
    for preview in previews:
        shown = preview["raw"]
        one = got[filled(shown["body"])]
        assert f"{shown['method']} {shown['url']}" == f"POST {server.url[:-3]}{one.path}"
        headers = {**one.headers, "authorization": "Bearer ***"}
        own = {**dict(shown["headers"]), "content-length": str(len(one.content))}
        assert own == headers
        body = json.loads(shown["body"])
        has_key = is_openai and wire.NAME != "messages"
        assert body.get("prompt_cache_key", "").startswith("triage" if has_key else "")
        assert ("prompt_cache_key" in body) == has_key
        assert f"\n{shown['body']}\n" in text and "sk-test" not in text


def filled(body: str) -> bytes:
    """The body with the values in the places of the holes."""
    for mark, value in VALUES.items():
        body = body.replace(mark, json.dumps(value, ensure_ascii=False)[1:-1])
    return body.encode()


def test_what_is_not_sent_has_no_form(saftc: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAFT_PROVIDER", "mock")
    done = saftc("prompts", "-", "--raw", stdin="print($ one $)")
    assert done.code == 1 and "the provider mock does not send to a server" in done.out
    monkeypatch.setenv("SAFT_PROVIDER", "openai")
    script = 'f ask(where): ret $ one $ with {base_url: where}\nask("http://127.0.0.1:9/v1")\n'
    done = saftc("prompts", "-", "--raw", stdin=script)
    assert done.code == 1 and "known when it runs, as `base_url` is" in done.out


def test_what_a_budget_adds_is_told(saftc: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SAFT_PROVIDER", "openai")
    told = "a budget of tokens or cost may add a limit of the reply, which is not shown\n"
    for name, value in (("SAFT_BUDGET_REQUESTS", "5"), ("SAFT_BUDGET_TOKENS", "100")):
        monkeypatch.setenv(name, value)
        done = saftc("prompts", "-", "--raw", stdin="print($ one $)")
        assert (told in done.err) == (name == "SAFT_BUDGET_TOKENS")
        assert "max_output_tokens" not in done.out
    assert told not in saftc("prompts", "-", stdin="print($ one $)").err


def test_no_key_is_needed_and_none_is_shown(
    saftc: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    addresses = {
        "openai": "https://api.openai.com/v1/responses",
        "openrouter": "https://openrouter.ai/api/v1/chat/completions",
        "gemini": "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions",
        "anthropic": "https://api.anthropic.com/v1/messages",
    }
    for provider, address in addresses.items():
        monkeypatch.setenv("SAFT_PROVIDER", provider)
        monkeypatch.setenv("SAFT_MODEL", "gemini-3-flash")
        done = saftc("prompts", "-", "--raw", stdin="print($ one $)")
        assert f"POST {address}\n" in done.out and "authorization: Bearer ***" in done.out
    monkeypatch.setenv("SAFT_PROVIDER", "openai")
    monkeypatch.setenv(
        "SAFT_BASE_URL", "http://me:Tr0ub4dor3@127.0.0.1:9/v1?api_key=Hunter2hunter2"
    )
    done = saftc("prompts", "-", "--raw", stdin="print($ one $)")
    assert "POST http://127.0.0.1:9/v1/chat/completions?api_key=***\n" in done.out
    assert "authorization: Basic ***" in done.out
    assert "Tr0ub4dor3" not in done.out and "Hunter2" not in done.out


KEPT_APPROVAL = """\
from desk_of_test import pay, made
f refund(order: string) -> string:
    ret order
careful = approve(refund)
paying = approve(pay)
f ask(tool: any) -> string:
    ret $ 1 {tool} $
print(ask(careful))
print($ 2 {careful} {paying} $)
print($ 3 $ with {tools: [careful, paying, made]})
desk = {pay: careful}
print($ 4 {desk.pay} $)
for one in [careful, approve(refund)]:
    print($ 5 {one} $)
maybe = careful if env("STRICT") == "yes" else refund
print($ 6 {maybe} $)
print(program $ 7 {careful} $)
"""


def test_an_approved_function_that_is_kept_waits_or_that_is_not_known(
    saftc: Command, folder: Path
) -> None:
    (folder / "desk_of_test.py").write_text(
        "from runtime_support import approve\n"
        "def pay(order: str) -> str: return order\n"
        "made = approve(pay)\n"
    )
    (folder / "in.saft").write_text(KEPT_APPROVAL)
    previews = shown(saftc, "in.saft")
    notes = [[one for one in preview["notes"] if "wait" in one] for preview in previews]
    kept = "calls of `careful` and of `paying` wait for approval"
    unknown = "whether calls of `{}` wait for approval is known when the script runs"
    assert notes == [
        [
            "«tool» is a tool's name instead, if it is a function; its calls wait for approval if "
            "`approve` made it"
        ],
        [kept],
        [kept, unknown.format("made")],
        ["calls of `tool_1` wait for approval"],
        ["calls of `one` wait for approval"],
        [unknown.format("maybe")],
        ["a program with calls of `careful` waits for approval"],
    ]
    assert "`maybe` is the function `approve(refund)` or `refund`" in previews[5]["notes"]
    assert list(tools_of(previews[1])) == ["careful", "paying"]
    assert list(tools_of(previews[2])) == ["careful", "paying", "made"]


def test_an_approved_function_that_is_kept_is_not_offered_without_approval(
    saftc: Command, folder: Path
) -> None:
    (folder / "desk_of_test.py").write_text("def pay(order: str) -> str: return order\n")
    (folder / "in.saft").write_text(
        "from desk_of_test import pay\n"
        "f refund(order: string) -> string:\n    ret order\n"
        "careful = approve(refund)\npaying = approve(pay)\n"
        "print($ {careful} {refund} $)\n"
        "print($ {paying} $ with {tools: [pay]})\n"
    )
    done = saftc("check", "in.saft")
    assert done.code == 1
    assert "`refund` is offered with and without approval" in done.out
    assert "`pay` is offered with and without approval" in done.out
