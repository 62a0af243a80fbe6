"""Classes of Python as types: what they inherit, across modules too, and pydantic's models."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.compiler.support import ROOT, compile_text

_BASE = '''
import datetime
from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass, field
from enum import Enum, IntEnum, StrEnum, auto
from typing import Annotated, ClassVar, Generic, Protocol, Required, Self, TypedDict, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

T = TypeVar("T")

class Status(str, Enum):
    OPEN = "open"
    DONE = "done"
    def shout(self) -> str: return self.value.upper()

class Level(IntEnum):
    LOW = auto()
    HIGH = auto()

class Word(StrEnum):
    ONE = auto()

class Named:
    def label(self) -> str: return "named"

@dataclass
class Base(Named):
    id: int
    name: str = "base"
    total: int = field(default=0, init=False)
    COUNT: ClassVar[int] = 3
    def me(self) -> Self: return self

@dataclass
class Item(Base):
    tags: list[str] = field(default_factory=list)
    name: str = "item"
    when: datetime.date = datetime.date(2026, 1, 2)
    parent: "Item | None" = None

@dataclass(kw_only=True)
class Strict(Base):
    size: int

@dataclass
class Late:
    a: int
    _: KW_ONLY
    b: int = 2

class Address(BaseModel):
    street: str
    zip: str | None = None

class Person(BaseModel):
    name: str
    age: int = Field(ge=0, description="years")
    address: Address
    status: Status = Status.OPEN
    tags: list[str] = []
    _secret: int = 3
    def greet(self) -> str: return "hi " + self.name

class Worker(Person):
    boss: "Person | None" = None
    salary: float = Field(default=0)
    shifts: Annotated[int, Field(gt=0)] = 1
    level: PositiveInt = Field(...)

class Renamed(BaseModel):
    model_config = ConfigDict(populate_by_name=True)
    user_name: str = Field(alias="userName")

class Page(BaseModel, Generic[T]):
    items: list[T]
    next: int

class Greeter(Protocol):
    def greet(self) -> str: ...

class Job(ABC):
    @abstractmethod
    def run(self, count: int) -> list[int]: ...

class Twice(Job):
    def run(self, count: int) -> list[int]: return [count, count]

class RowBase(TypedDict):
    id: int

class Row(RowBase, total=False):
    note: str
    size: Required[int]

def a_row() -> Row: return {"id": 1, "size": 2}
def a_job() -> Job: return Twice()
def a_greeter() -> Greeter:
    return Worker(name="w", age=3, address=Address(street="s"), level=1)
'''

_SHOP = '''
import base
from base import *
from base import Item as Thing
from . import gone

class Special(base.Worker):
    rank: int = 1

LIMIT: int = 3
'''

_HEAD = """from shop import Item, Level, Person, Row, Special, Status, Strict, Word, Worker, Thing
from shop import Address, Late, Page, Renamed, a_greeter, a_job, a_row
import shop

"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "base.py").write_text(_BASE)
    (tmp_path / "shop.py").write_text(_SHOP.replace("from . import gone\n", ""))
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("base", "shop"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return tmp_path


def _run(script: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> tuple[str, str]:
    """The module of a script, without its imports, and what it prints."""
    compiled = compile_text(_HEAD + script, folder=folder)
    assert compiled.text is not None, compiled.checked.diagnostics
    exec(compile(compiled.text, "in.py", "exec"), {"__name__": "in_script"})
    return compiled.text.partition("import shop\n")[2], capsys.readouterr().out


@pytest.mark.parametrize(
    ("script", "output"),
    [
        # Fields in order, those inherited first; overriding keeps the place.
        ('t = Thing(1, "n", tags: ["a"])\nprint(t.name + t.tags[0], t.id + 1)\n', "na 2\n"),
        ("t = Item(1)\nprint(t.name + \"\", t.total + 1, t.parent == nil)\n", "item 1 true\n"),
        ('print(Item(1).label() + "!", Item(2).me().me().id + 1)\n', "named! 3\n"),
        ("print(Item(1).when.isoformat() + \"!\", Item(1).when.year + 1)\n", None),
        ("print(Strict(1, size: 2).size + 1, Late(1, b: 3).b + 1)\n", "3 4\n"),
        ('t: Item = parse("{\\"id\\": 1}")\nprint(t.name + "")\n', "item\n"),
        # One that inherits will do for its base, and not the other way round.
        ('p: Person = Special(name: "S", age: 1, address: Address(street: "s"), level: 1)\n'
         'f meet(one: Person) -> string: ret one.greet()\n'
         'print(meet(p), meet(Person(name: "A", age: 1, address: Address(street: "s"))))\n',
         "hi S hi A\n"),
        # Members of Enums that are texts or numbers besides are compared as Python does.
        ('print(Status.OPEN == "open", Status.OPEN == Status.DONE)\n', "true false\n"),
        ('print(Status.OPEN.shout() + "!", Level.HIGH.value + 1, Word.ONE.value + "!")\n', None),
        ('s: Status = parse("\\"done\\"")\nprint(s, s.name + "", upper(s))\n', "done DONE DONE\n"),
        ('print(type(Status.OPEN) == "Status", Level.LOW < Level.HIGH)\n', "true true\n"),
        # Models.
        (
            'w = Worker(name: "A", age: 3, address: Address(street: "s"), level: 2)\n'
            'print(w.level + 1)\nprint(w.greet() + "!", w.boss == nil)\n'
            'print(w.address.street + "", w.salary * 2)\n'
            'print(w.address.zip, w.model_copy().name + "", w.model_dump_json() + "" != "")\n',
            "3\nhi A! true\ns 0\nnil A true\n",
        ),
        (
            's: Special = parse("{\\"name\\": \\"B\\", \\"age\\": 1, \\"address\\": '
            '{\\"street\\": \\"x\\"}, \\"level\\": 1}")\n'
            'print(s.rank + 1, s.status.shout() + "")\n',
            "2 OPEN\n",
        ),
        ('print(Renamed(userName: "a").user_name + "!")\n', "a!\n"),
        ('print(Renamed(user_name: "a").user_name + "!")\n', "a!\n"),
        ("p = Page(items: [1, 2], next: 3)\nprint(p.items[1], p.next + 1)\n", "2 4\n"),
        # What is no type has methods.
        ('print(a_job().run(3)[0] + 1, a_greeter().greet() + "!")\n', "4 hi w!\n"),
        ("job = a_job()\nprint(job.run(3)[1] + 1)\n", "4\n"),
        # A field of a TypedDict that is lacking is nil.
        (
            "r: Row = {id: 1, size: 2}\nprint(r.note == nil, a_row().note)\n"
            'print(r["note"], r.size + 1)\n'
            'q = {...a_row(), note: "n"}\nprint(q.note + "!", {...a_row()}.note, keys(r))\n',
            'true nil\nnil 3\nn! nil ["id", "size"]\n',
        ),
        ("print(shop.LIMIT + 1, shop.base.Item(3).id)\n", "4 3\n"),
    ],
)
def test_what_is_inherited(
    script: str, output: str | None, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, written = _run(script, folder, capsys)
    expected = {"isoformat": "2026-01-02! 2027\n", "shout": "OPEN! 3 one!\n"}
    if output is None:
        output = next(value for word, value in expected.items() if word in script)
    assert written == output
    only_when_run = ("Status.OPEN ==", "s: Status", "Level.LOW", "p = Page", "type(Status")
    if not any(word in script for word in only_when_run):
        assert "ops." not in text.replace("ops.eq(w.model_dump", "")


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ('f go(one: Special) -> int: ret 1\n'
         'go(Status.OPEN)\n', "expected Special, found Status"),
        ("print(Item(1).totl)\n", "Item has no field `totl`"),
        ("print(Item())\n", "`Item` needs a value for `id`"),
        ("print(Strict(1))\n", "`Strict` needs a value for `size`"),
        ("print(Strict(1, \"a\", 3))\n", "`Strict` takes its fields by name"),
        ("print(Late(1, 2))\n", "`Late` takes its fields by name"),
        ("print(Person(\"a\", 3))\n", "`Person` takes its fields by name"),
        ("print(Person(name: \"a\", age: 3))\n", "`Person` needs a value for `address`"),
        ("print(Address(street: 3))\n", "expected string, found int"),
        ("print(Address(street: \"a\", zp: \"3\"))\n", "`Address` has no parameter `zp`"),
        ("print(Address(street: \"a\").strt)\n", "Address has no field `strt`"),
        ("i: Item = Strict(1, size: 2)\n", "expected Item, found Strict"),
        ("r: Row = {id: 1}\n", "expected {id: int, note: string?, size: int}, "
         "found an object without `size`"),
        ('s: Status = "open"\n', "expected Status, found string"),
    ],
)
def test_wrong_uses_are_told(script: str, said: str, folder: Path) -> None:
    compiled = compile_text(_HEAD + script, folder=folder)
    errors = [one.message for one in compiled.checked.diagnostics if one.severity == "error"]
    assert errors == [said]


@pytest.mark.parametrize(
    "text",
    [
        "from gone import Base\n@dataclass\nclass A(Base):\n    x: int",
        "@dataclass\nclass A:\n    x: InitVar[int]",
        "@dataclass\nclass A:\n    x: int\n    def __init__(self) -> None: ...",
        "@other\n@dataclass\nclass A:\n    x: int",
        "@dataclass\nclass A(A):\n    x: int",
        "class A(str):\n    x: int",
        "class A(Generic):\n    x: int",
    ],
)
def test_classes_with_more_to_them_are_no_types(text: str, tmp_path: Path) -> None:
    head = "from dataclasses import InitVar, dataclass\nfrom typing import Generic\n"
    (tmp_path / "odd.py").write_text(f"{head}def other(x): return x\n{text}\n")
    compiled = compile_text("from odd import A\na: A = parse(\"1\")\nprint(a)\n", folder=tmp_path)
    assert [one.message for one in compiled.checked.diagnostics] == ["unknown type `A`"]


def test_modules_that_import_each_other(tmp_path: Path) -> None:
    head = "from dataclasses import dataclass\n"
    (tmp_path / "one.py").write_text(
        f"{head}import two\n@dataclass\nclass A:\n    x: int\n    b: 'two.B | None' = None\n"
    )
    (tmp_path / "two.py").write_text(
        f"{head}from one import A\n@dataclass\nclass B(A):\n    a: A | None = None\n"
    )
    script = "from two import B\nprint(B(1).x + 1, B(2).b == nil)\n"
    compiled = compile_text(script, folder=tmp_path)
    assert compiled.text is not None, compiled.checked.diagnostics
    assert "print(B(1).x + 1, show(B(2).b is None))" in compiled.text


def test_a_package_passes_on_what_its_modules_define(tmp_path: Path) -> None:
    package = tmp_path / "market"
    (package / "parts").mkdir(parents=True)
    (package / "__init__.py").write_text("from .models import Order, newest\nfrom . import parts\n")
    (package / "models.py").write_text(
        "from __future__ import annotations\nfrom typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from .parts.deep import Part\n"
        "from dataclasses import dataclass\n\n@dataclass\nclass Order:\n    id: int\n"
        "    part: Part | None = None\ndef newest() -> Order: ...\n"
    )
    (package / "parts" / "__init__.py").write_text("def count() -> int: ...\n")
    (package / "parts" / "deep.py").write_text(
        "from dataclasses import dataclass\nfrom ..models import newest as again\n"
        "@dataclass\nclass Part:\n    name: str\n"
    )
    script = (
        "from market import newest\nfrom market.parts.deep import again\nimport market\n"
        "part = again().part\nif part != nil: print(part.name + \"!\")\n"
        "print(newest().id + market.parts.count())\no = newest()\nos = [o]\nos = os + [again()]\n"
    )
    compiled = compile_text(script, folder=tmp_path)
    assert compiled.text is not None, compiled.checked.diagnostics
    assert 'print(part.name + "!")' in compiled.text and "ops" not in compiled.text
    assert "print(newest().id + market.parts.count())" in compiled.text


@pytest.mark.heavy
@pytest.mark.one_python
def test_pyright_finds_nothing_in_its_strict_mode(folder: Path) -> None:
    script = """
w = Worker(name: "A", age: 3, address: Address(street: "s"), level: 2)
print(w.greet() + "!", w.boss == nil, Item(1, tags: ["a"]).tags[0] + "")
r: Row = {id: 1, size: 2}
print(r.note, a_row().note)

f shout(item: Item, row: Row, status: Status) -> string:
    ret item.me().name + str(row.size) + status.shout()

type Lamp(status: Status = Status.OPEN, items: [Item]? = nil)
print(shout(Item(1), r, Status.OPEN), Lamp().items)
"""
    names = "Address, Item, Row, Status, Worker, a_row"
    compiled = compile_text(f"from shop import {names}\n{script}", folder=folder)
    assert compiled.text is not None, compiled.checked.diagnostics
    (folder / "in_script.py").write_text(compiled.text)
    (folder / "pyrightconfig.json").write_text(
        '{"typeCheckingMode": "strict", "pythonVersion": "3.11", "include": ["in_script.py"],'
        f' "extraPaths": ["{ROOT}"]}}'
    )
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "-p", str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


_KINDS = """from kinds import Colour, Degree, Plain, Point, Base, Derived, Model, Text
from kinds import Base as Other, given, first
f all_same(x, same: [bool]):
    ret [k == type(x) for k in words] == same
words = ["Colour", "Degree", "Plain", "Point", "Base", "Derived", "Model", "Text", "Other",
    "string", "int", "tuple", "object", "list", "float"]
f tests(x):
    ret [
        type(x) == "Colour", type(x) == "Degree", type(x) == "Plain", type(x) == "Point",
        type(x) == "Base", type(x) == "Derived", type(x) == "Model", type(x) == "Text",
        type(x) == "Other", type(x) == "string", type(x) == "int", type(x) == "tuple",
        type(x) == "object", type(x) == "list", type(x) == "float",
    ]
for n in range(8):
    x = given(n)
    print(type(x), all_same(x, tests(x)))
// The same where the class is known.
c = Colour.RED
print(type(c), type(c) == "Colour", type(c) == "string", c + "!")
d = Degree.LOW
print(type(d), type(d) == "Degree", type(d) == "int", d + 1)
p = Point(1, 2)
print(type(p), type(p) == "Point", type(p) == "tuple", p.x)
b = first()
print(type(b), type(b) == "Base", type(b) == "Derived")
print(Plain.A, Model(a: 1), Derived(1))
"""

_KINDS_MODULE = """
from dataclasses import dataclass
from enum import Enum, IntEnum, StrEnum
from typing import NamedTuple
from pydantic import BaseModel

class Colour(StrEnum):
    RED = "red"

class Degree(IntEnum):
    LOW = 1

class Plain(Enum):
    A = "a"

class Point(NamedTuple):
    x: int
    y: int

@dataclass
class Base:
    a: int

@dataclass
class Derived(Base):
    b: int = 2

class Model(BaseModel):
    a: int

class Text(str): ...

def first() -> Base: return Derived(1)

def given(n):
    values = (Colour.RED, Degree.LOW, Plain.A, Point(1, 2), Derived(1), Model(a=1), Text("t"), "t")
    return values[n]
"""


def test_a_test_of_the_kind_says_what_type_gives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "kinds.py").write_text(_KINDS_MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "kinds", raising=False)
    compiled = compile_text(_KINDS, folder=tmp_path)
    assert compiled.text is not None, compiled.checked.diagnostics
    exec(compile(compiled.text, "in.py", "exec"), {"__name__": "in_script"})
    assert capsys.readouterr().out == """Colour true
Degree true
Plain true
Point true
Derived true
Model true
string true
string true
Colour true false red!
Degree true false 2
Point true false 1
Derived false true
a {a: 1} Derived(a: 1, b: 2)
"""
