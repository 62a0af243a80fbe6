"""What functions of Python give is read from their annotations, and nothing of them runs."""

import ast
from pathlib import Path

import pytest

from saftc.project.python.bindings import bindings_of
from saftc.project.python.library import Library, Text
from saftc.project.scripts import Modules
from saftc.types.foreign import Declared, Function, PythonClass, Value
from saftc.types.types import ANY, STRING, show
from tests.compiler.support import compile_text


def _declared(text: str, name: str) -> Declared | None:
    """What a name of a module with this text is."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    module = Library(lambda _name: Text(bindings_of(tree.body))).module("module")
    assert module is not None
    return module.declared(name)


def _given(text: str) -> str | None:
    """The type of what a call of `go` gives, None where it is any value."""
    match _declared(text, "go"):
        case Function() as function:
            given = function.given((ANY,), {}).type
            return None if given == ANY else show(given)
        case _:
            return None


_HEAD = """
import typing as t
from functools import cache
from typing import Any, Literal, Optional, Union as Either

class str_: ...
Name = t.NewType("Name", str)
Label = Literal["a", "b"]
"""


@pytest.mark.parametrize(
    ("annotation", "type_"),
    [
        ("int", "int"),
        ("str", "string"),
        ("bool", "bool"),
        ("None", "nil"),
        # Python's checkers take an int for a float.
        ("float", "int | float"),
        ("list[str]", "[string]"),
        ("list", "[any]"),
        ("t.List[list[int]]", "[[int]]"),
        ("tuple[int, str | None]", "(int, string?)"),
        ("Optional[str]", "string?"),
        ("Either[int, str]", "int | string"),
        ("t.Union[int, None]", "int?"),
        ("Literal['low', 'high', 3]", '"low" | "high" | 3'),
        ("'list[int]'", "[int]"),
        ("list['int']", "[int]"),
        ("Any", None),
        ("dict[str, int]", "{[string]: int}"),
        ("dict[int, str]", None),
        ("t.Annotated[str, 3]", "string"),
        ("Name", "string"),
        ("Label", '"a" | "b"'),
        ("Literal[-1]", "-1"),
        ("t.Sequence[str]", None),
        ("tuple[int, ...]", None),
        ("str_", None),
        ("int | str_", None),
        ("Literal[b'a']", None),
        ("'list['", None),
        ("Literal", None),
    ],
)
def test_annotations_that_saft_has_a_type_for(annotation: str, type_: str | None) -> None:
    text = f"{_HEAD}\ndef go(x: int) -> {annotation}: ...\n"
    assert _given(text) == type_


@pytest.mark.parametrize(
    "text",
    [
        "def go(): return 1",
        "import functools\n@functools.cache\ndef go() -> int: return 1",
        "def go() -> int: return 1\ndef go() -> str: return ''",
        "def go() -> int: return 1\ngo = str",
        "def go() -> int: return 1\nif go:\n    from os import path as go",
        "def go() -> int: ...\ntry:\n    pass\nexcept OSError:\n    def go() -> str: ...",
        "class int: ...\ndef go() -> int: return int()",
        "class A:\n    def go(self) -> int: return 1",
        "def go() -> int: return (",
        "def go() -> int: return '\\0'\n\0",
    ],
)
def test_what_a_name_may_be_besides_is_any_value(text: str) -> None:
    assert _given(text.replace("go()", "go(x)")) is None


_SHOP = """
raise SystemExit("nothing of it runs")

from dataclasses import dataclass, field
from typing import NamedTuple, TypedDict

@dataclass(frozen=True)
class Item:
    name: str
    class_: str | None = None
    def shout(self, mark: str = "!") -> str: ...

@dataclass
class Order:
    id: int
    items: list[Item] = field(default_factory=list)
    @property
    def total(self) -> int: ...
    def first(self) -> Item: ...
    def loose(self): ...

class Point(NamedTuple):
    x: int

class Row(TypedDict):
    id: int

class Derived(Order):
    more: int

class Loose(Order):
    def __init__(self) -> None: ...

def latest() -> Order: ...
def count(text: str) -> int: ...
def price(name: str) -> float: ...
def names() -> list[str]: ...
def loose(): ...
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(_SHOP)
    (tmp_path / "market").mkdir()
    (tmp_path / "market" / "__init__.py").write_text("def size() -> int: ...\n")
    (tmp_path / "market" / "stall.py").write_text("def owner() -> str: ...\n")
    return tmp_path


def _body(script: str, folder: Path) -> str:
    compiled = compile_text(script, folder=folder)
    assert compiled.text is not None, compiled.checked.diagnostics
    return compiled.text.partition("\n\n")[2].rpartition("\n\n")[2].strip()


@pytest.mark.parametrize(
    ("script", "body"),
    [
        ("from shop import count\nn: int = count(1) + 1\n", "n: int = count(1) + 1"),
        ("from shop import price as cost\np: float = cost(1)\n", "p: float = float(cost(1))"),
        ("import shop\nprint(upper(shop.names()[0]))\n", "print(shop.names()[0].upper())"),
        ("import shop as s\nn: int = s.loose()\n", "n: int = check(s.loose(), int)"),
        ("from market import size\nprint(size() + 1)\n", "print(size() + 1)"),
        ("from market.stall import owner\nprint(upper(owner()))\n", "print(owner().upper())"),
        ("import market.stall\nn: string = market.stall.owner()\n", None),
    ],
)
def test_calls_of_python_give_what_is_annotated(
    script: str, body: str | None, folder: Path
) -> None:
    expected = "n: str = market.stall.owner()" if body is None else body
    assert _body(script, folder) == expected


@pytest.mark.parametrize(
    ("script", "body"),
    [
        ("o: Order = parse(\"{}\")\n", 'o: Order = check(parse("{}"), Order)'),
        ("o: Order = $ one $\n", 'o = prompt("one", returns=Order).value'),
        ("print(Order(1, items: [Item(\"a\", class: \"b\")]).items[0].class == nil)\n", None),
        ("print(latest().first().shout() + \"?\")\n", 'print(latest().first().shout() + "?")'),
        ("print(latest().total + 1)\n", "print(latest().total + 1)"),
        ("n: int = latest().loose()\n", "n: int = check(latest().loose(), int)"),
        ("d: Derived = latest()\n", "d: Derived = check(latest(), Derived)"),
        ("print(Point(1).x + 1)\n", "print(Point(1).x + 1)"),
        ("r: Row = {id: 1}\nprint(r.id + 1)\n", 'r: Row = {"id": 1}\nprint(r["id"] + 1)'),
    ],
)
def test_classes_with_fields_are_types(script: str, body: str | None, folder: Path) -> None:
    head = "from shop import Derived, Item, Order, Point, Row, latest\n"
    expected = (
        'print(show(Order(1, items=[Item("a", class_="b")]).items[0].class_ is None))'
        if body is None
        else body
    )
    assert _body(head + script, folder).rpartition("\n\n")[2] == expected


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("print(latest().totl)\n", "Order has no field `totl`"),
        ("print(Order())\n", "`Order` needs a value for `id`"),
        ('print(Item(1))\n', "expected string, found int"),
        ("o: Order = {id: 1}\n", "expected Order, found {id: int}"),
        ("d: Loose = latest()\n", "unknown type `Loose`"),
    ],
)
def test_wrong_uses_of_classes_are_told(script: str, said: str, folder: Path) -> None:
    head = "from shop import Derived, Item, Loose, Order, latest\n"
    compiled = compile_text(head + script, folder=folder)
    errors = [one.message for one in compiled.checked.diagnostics if one.severity == "error"]
    assert errors == [said]


_PAINT = """
import enum as e
from dataclasses import dataclass
from enum import Enum, IntEnum, auto, unique

class Color(Enum):
    RED = "red"
    GREEN = "green"
    def shout(self) -> str: ...

class Level(e.Enum):
    LOW = 1
    HALF = 1.5

class Next(Enum):
    ONE = auto()

class Text(str, Enum):
    ONE = "one"

class Odd(Enum):
    ONE = "one"
    @classmethod
    def _missing_(cls, value): ...

@unique
class Once(Enum):
    ONE = 1

class Flat(IntEnum):
    LOW = 1

@dataclass
class Spot:
    color: Color

def best() -> Color: ...
"""


@pytest.mark.parametrize(
    ("script", "body"),
    [
        ('print(Color.RED.value + "!")\n', 'print(Color.RED.value + "!")'),
        ('print(best().name + "!")\n', 'print(best().name + "!")'),
        ('print(Spot(Color.RED).color.shout() + "!")\n', None),
        ("print(Level.LOW.value + 1)\n", "print(Level.LOW.value + 1)"),
        ("if best() == Color.RED:\n    print(1)\n", "if best() == Color.RED:\n    print(1)"),
        ('if Color("red") != best():\n    print(1)\n', 'if Color("red") != best():\n    print(1)'),
        ("c: Color = $ one $\n", 'c = prompt("one", returns=Color).value'),
        ('c: Color = parse("1")\n', 'c: Color = check(parse("1"), Color)'),
        ("print(Next.ONE.value + 1)\n", "print(Next.ONE.value + 1)"),
        ("print(Color.__members__)\n", "print(show(Color.__members__))"),
    ],
)
def test_enums_are_types(script: str, body: str | None, tmp_path: Path) -> None:
    (tmp_path / "paint.py").write_text(_PAINT)
    head = "from paint import Color, Level, Next, Spot, best\n"
    expected = 'print(Spot(Color.RED).color.shout() + "!")' if body is None else body
    assert _body(head + script, tmp_path).rpartition("\n\n")[2] == expected


@pytest.mark.parametrize(
    ("script", "said", "hint"),
    [
        ("print(Color.REDD)\n", "Color has no field `REDD`", "did you mean `RED`?"),
        ("print(C.BLUE)\n", "Color has no field `BLUE`", "it has `RED`, `GREEN`"),
        ("print(best().valu)\n", "Color has no field `valu`", "did you mean `value`?"),
        ('c: Color = "red"\n', "expected Color, found string", None),
        (
            "print(Color(1))\n",
            "expected string, found int",
            "`str(x)` converts any value to a string",
        ),
    ],
)
def test_wrong_uses_of_enums_are_told(
    script: str, said: str, hint: str | None, tmp_path: Path
) -> None:
    (tmp_path / "paint.py").write_text(_PAINT)
    head = "from paint import Color, Color as C, best\n"
    compiled = compile_text(head + script, folder=tmp_path)
    errors = [one for one in compiled.checked.diagnostics if one.severity == "error"]
    assert [(one.message, one.hint) for one in errors] == [(said, hint)]


@pytest.mark.parametrize(
    ("name", "schema"),
    [("Next", "Next"), ("Text", "Text"), ("Odd", None), ("Once", "Once"), ("Flat", "Flat")],
)
def test_enums_with_more_to_them(name: str, schema: str | None) -> None:
    found = _declared(_PAINT, name)
    assert isinstance(found, PythonClass)
    assert (None if found.schema is None else show(found.schema)) == schema


def test_an_enum_in_a_script_that_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "hues.py").write_text(
        "from enum import Enum\n\nclass Hue(Enum):\n    RED = 'red'\n    DIM = 'dim'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    script = (
        "from hues import Hue as H\n\n"
        "type Lamp(hue: H = H.RED)\n\n"
        "lamp: Lamp = parse(\"{\\\"hue\\\": \\\"dim\\\"}\")\n"
        "print(lamp, lamp.hue == H.DIM, H(\"red\") in [Lamp().hue], type(lamp.hue), H.DIM.name)\n"
    )
    compiled = compile_text(script, folder=tmp_path)
    assert compiled.text is not None, compiled.checked.diagnostics
    assert "lamp.hue == H.DIM" in compiled.text and "import ops" not in compiled.text
    exec(compile(compiled.text, "in.py", "exec"), {"__name__": "in_script"})
    assert capsys.readouterr().out == 'Lamp(hue: "dim") true true Hue DIM\n'


def test_a_class_is_the_same_by_way_of_another_script(folder: Path) -> None:
    (folder / "between.saft").write_text(
        "from shop import Order\n\nf make() -> Order:\n    ret Order(1)\n"
    )
    script = "from between import Order, make\no: Order = make()\nprint(o.first().name)\n"
    assert "o: Order = make()\nprint(o.first().name)" in _body(script, folder)


def test_a_wrong_use_of_what_is_given_is_told(folder: Path) -> None:
    compiled = compile_text("from shop import count\nn: string = count(1)\n", folder=folder)
    assert [one.message for one in compiled.checked.diagnostics] == ["expected string, found int"]


def test_a_name_that_two_imports_bind_is_any_value(folder: Path) -> None:
    script = "if 1 < 2:\n    from shop import count\nelse:\n    from market import size as count\n"
    assert "check(count(1), int)" in _body(f"{script}n: int = count(1)\n", folder)


# Python's own library, by its stubs


@pytest.mark.one_python
@pytest.mark.parametrize(
    "name",
    [
        *("asyncio", "builtins", "collections.abc", "concurrent.futures", "ctypes", "datetime"),
        *("email", "importlib.metadata", "json", "math", "multiprocessing", "os", "os.path"),
        *("random", "re", "socket", "statistics", "string", "tkinter", "typing", "unittest"),
    ],
)
def test_every_name_of_a_module_of_the_library_can_be_asked(name: str, tmp_path: Path) -> None:
    """Whatever stubs pass on to each other, and whatever circles there are in it."""
    module = Modules(tmp_path).library.module(name)
    assert module is not None
    found = {one: module.declared(one) for one in module.members.names()}
    assert None not in found.values()
    for declared in found.values():
        if isinstance(declared, Function):
            declared.given((ANY,), {})


@pytest.mark.parametrize(
    ("call", "type_"),
    [
        ("os.path.join", "string"),
        ("random.choice", "string"),
        ("statistics.mode", "string"),
        ("copy.copy", "string"),
        ("re.compile", "any"),
        ("shutil.which", "string?"),
        ("json.loads", "any"),
        ("time.time", "float"),
        ("zlib.crc32", "int"),
        ("importlib.import_module", "any"),
    ],
)
def test_what_calls_of_the_library_give(call: str, type_: str, tmp_path: Path) -> None:
    module, _, name = call.rpartition(".")
    found = Modules(tmp_path).library.module(module)
    declared = None if found is None else found.declared(name)
    assert isinstance(declared, Function)
    assert show(declared.given((STRING,), {}).type) == type_


def test_a_module_beside_a_script_may_stand_before_the_library(tmp_path: Path) -> None:
    (tmp_path / "random.py").write_text("def randint(a, b): ...\n")
    assert Modules(tmp_path).library.module("random") is None


_STUB = """

from typing import Final

if sys.version_info >= (3, 11) and sys.platform != "win32":
    def go() -> int: ...
else:
    def go() -> str: ...
if sys.version_info >= (3, 99):
    def new() -> int: ...
elif sys.platform == "linux":
    def old() -> str: ...

class Made:
    if sys.version_info >= (3, 10):
        def size(self) -> int: ...

_made: Made
size = _made.size
also = size
one = other
other = one
far = one.far
LIMIT: Final = 5
"""


@pytest.mark.parametrize(
    ("name", "type_"),
    [("go", "int"), ("old", "string"), ("size", "int"), ("also", "int"), ("LIMIT", "int")]
    + [(name, "any") for name in ("new", "one", "other", "far")],
)
def test_stubs_say_what_names_are(name: str, type_: str) -> None:
    text = Text(bindings_of(ast.parse(_STUB).body, is_stub=True), is_stub=True)
    module = Library(lambda one: text if one == "stub" else None).module("stub")
    assert module is not None
    match module.declared(name):
        case Function() as function:
            assert show(function.given((), {}).type) == type_
        case Value(type=found):
            assert show(found) == type_
        case other:
            pytest.fail(f"{name} is {other}")


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        ('["a", "b"]', "[string]"),
        ("(-1, True)", "(int, bool)"),
        ('{"a": [1.5]}', "{[string]: [float]}"),
        ('"a"', "string"),
        # Of these Python's checkers do not say one type, or nothing is known of the value.
        *((value, "any") for value in ("[]", "{}", "None", '["a", 1]', "{1: 2}", "[go()]")),
        ("1\nVALUE = 2", "any"),
    ],
)
def test_a_constant_has_the_type_of_its_value(value: str, type_: str) -> None:
    found = _declared(f"VALUE = {value}\n", "VALUE")
    assert isinstance(found, Value)
    assert show(found.type) == type_


def test_what_is_no_constant_by_its_name_may_change() -> None:
    assert _declared("value = 1\n", "value") == Value()
