"""What bounds say, construct by construct."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from saftc.cost import bodies
from saftc.cost.bound import Bound, Measure, largest, least, measured, number
from saftc.cost.rendering import as_text
from saftc.cost.requests import ProgramBounds
from saftc.cost.rules import Limits
from saftc.driver import Checked
from saftc.overlap.settings import Overlapping
from saftc.project.scripts import Scripts
from saftc.syntax import nodes as n
from saftc.types.builtins import BUILTINS

pytestmark = pytest.mark.one_python

LIMITS = Limits(max_repairs=1, max_tool_rounds=8, max_tool_calls=32, program_calls=256)
# What stands in expressions, and is none.
_PARTS = {n.Identifier, n.Field, n.ComputedField, n.Spread, n.Argument, n.PromptText, n.Hole}
_PARTS |= {n.FormatText, n.FormatHole}
_ASK = "f ask(x: string) -> string:\n    ret $ about {x} $\n\n"


def bounds_in(folder: Path, text: str) -> ProgramBounds:
    """The bounds of a script in a folder, whose siblings it imports."""
    (folder / "main.saft").write_text(text, encoding="utf-8")
    found: Checked = Scripts().check(str(folder / "main.saft"))
    assert not found.has_errors, found.diagnostics
    return ProgramBounds(found.facts, found.source, LIMITS)


def told(bounds: ProgramBounds, name: str) -> str:
    """The bound of a function, or of the script as a program, as it is told."""
    if name:
        functions = (one for one in bounds.facts.module.statements)
        definition = next(
            one for one in functions if isinstance(one, n.FunctionDef) and one.name.text == name
        )
        bound = bounds.of_function(definition).bound
    else:
        bound = bounds.program.bound
    return "; ".join(one.words for one in bound.reasons) or bound.text


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("print($ a $)\nprint($ b $)\n", "4"),
        ("x: [int] = $ a $ with {max_repairs: 3}\nprint(x)\n", "4"),
        ('fast = {max_repairs: 0, model: "m"}\nprint($ a $ with fast)\n', "1"),
        ("fast = {max_repairs: 0}\nprint($ a $ with {...fast, seed: 1})\n", "1"),
        ("print($ a $ with {max_tool_rounds: 2})\n", "2"),
        ("print($ what {$ which $} $)\n", "4"),
        ("print([1, 2] + [$ a $])\nprint({a: $ a $, b: ($ b $, 1)})\n", "6"),
        ('print(f"{$ a $} and {$ b $}")\n', "4"),
        ("if $ a $ and $ b $ or $ c $:\n    print(1)\n", "6"),
        ("if $ a $:\n    print($ b $)\nelif $ c $:\n    print(1)\nelse:\n    print($ d $)\n", "6"),
        ("print($ a $ if $ b $ else $ c $)\n", "4"),
        ("try:\n    print($ a $)\n    fail \"x\"\nexcept:\n    print($ b $)\n", "4"),
        ("assert $ a $, $ b $\n", "4"),
        ("for x in [1, 2, 3]:\n    if x > 1:\n        break\n    print($ {x} $)\n", "6"),
        ("for x in (1, 2):\n    print($ {x} $)\n", "4"),
        ("for x in range(4):\n    print($ {x} $)\n", "8"),
        ("for x in range(2, 4):\n    print($ {x} $)\n", "4"),
        ("print([$ {x} {y} $ for x in [1, 2] for y in [1, 2, 3] if $ {y} $])\n", "24"),
        ("a, b = ($ a $, $ b $)\nprint(a, b)\n", "4"),
        ("{a: int, b: int, c: int} = $ a $\nprint(a, b, c)\n", "4"),
        ("{a: int, b: int?} = $ a $\nprint(a, b)\n", "10"),
        ("{a: int, b: int} = do $ a $\nprint(a, b)\n", "2"),
        ("{a: int, b: int} = $ a $ with {enforce_schema: \"on\"}\nprint(a, b)\n", "2"),
        (_ASK + "print($ use {ask} $)\n", "74"),
        (_ASK + "print(do $ use {ask} $ with {max_tool_calls: 3})\n", "9"),
        (_ASK + "print($ use {ask} $ with {max_tool_rounds: 0})\n", "2"),
        (_ASK + "h = $ use {ask} $\nprint($ go on $ after h)\n", "148"),
        (_ASK + "h = $ use {ask} $\nprint($ go on $ after h with {tools: []})\n", "76"),
        (_ASK + "print($ go $ with {tools: [ask], max_tool_calls: 1})\n", "5"),
        ("print($ use {upper} $)\n", "10"),
        ("print(program $ five $)\n", "9"),
        (_ASK + "print(program $ {ask} $ with {max_tool_rounds: 1, max_tool_calls: 2})\n", "6"),
        (_ASK + "plan: program = program $ {ask} $\nprint(run(plan))\n", "521"),
        (_ASK + "print(sorted([\"a\", \"b\"], by: ask))\n", "4"),
        (_ASK + 'g = ask\nprint(g("a"))\n', "2"),
        (_ASK + 'f twice(g):\n    ret g("a") + g("b")\n\nprint(twice(ask))\n', "4"),
        ("for piece in stream $ a $:\n    print(piece)\n", "2"),
        ("words = [\"a\", \"b\"]\nout = []\nfor w in words:\n    out += [w, w]\n"
         "for o in out:\n    print($ {o} $)\n", "8"),
        ("type A(x: int = 3):\n    assert x > 0\n\nprint(A())\n", "0"),
        ("f never():\n    ret never()\n\nnever()\n", "0"),
        ('import math\nprint(math.sqrt(4.0), $ a $)\n', "2"),
    ],
)  # fmt: skip
def test_scripts(text: str, most: str, tmp_path: Path) -> None:
    assert told(bounds_in(tmp_path, text), "") == most


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("f g(xs: [string]):\n    for x in xs:\n        print($ {x} $)\n", "2 * len(xs)"),
        ("f g(xs: [string]):\n    for x in xs[:5]:\n        print($ {x} $)\n", "10"),
        ("f g(xs: [string]):\n    for x in xs[1:3]:\n        print($ {x} $)\n", "4"),
        ("f g(xs: [string]):\n    for x in xs[:-1]:\n        print($ {x} $)\n", "2 * len(xs)"),
        ("f g(n: int):\n    for x in range(1, n + 1):\n        print($ {x} $)\n", "2 * n"),
        ("f g(n: int):\n    for x in range(n - 1):\n        print($ {x} $)\n", "2 * n"),
        ("f g(n: int):\n    n = n * n\n    for x in range(n):\n        print($ {x} $)\n", "2 * n"),
        ("f g(r: int):\n    print($ a $ with {max_repairs: r})\n", "r + 1"),
        ("f g(xs: [string], ys: [string]):\n    print([$ {x} {y} $ for x in xs for y in ys])\n",
         "2 * len(xs) * len(ys)"),
        ("f g(a: [string], b: [string]):\n    if len(a) > 1:\n        print([$ {x} $ for x in a])\n"
         "    else:\n        print([$ {y} $ for y in b])\n", "2 * len(a) + 2 * len(b)"),
        ("f g(xs: [string]):\n    if len(xs) > 1:\n        print($ a $)\n"
         "    else:\n        print([$ {x} $ for x in xs], $ b $)\n", "2 * len(xs) + 2"),
        ('f g(text: string):\n    for x in split(text, "\\n"):\n        print($ {x} $)\n',
         '2 * len(split(text, "\\n"))'),
        ("f g(xs: [string]):\n    ys = [x for x in xs if x != \"\"]\n    for y in ys:\n"
         "        print($ {y} $)\n", "2 * len(xs)"),
        ("f g(n: int):\n    for x in [n, n, n, n][2::-1]:\n        print($ {x} $)\n", "8"),
        ("f g(n: int):\n    for x in [n, n, n, n][2:]:\n        print($ {x} $)\n", "4"),
        ("f g():\n    for piece in stream $ a $:\n        print($ {piece} $)\n",
         "a stream comes in as many parts as the server sends"),
        ("f g():\n    for draft: {a: int} in stream $ a $:\n        print($ {draft} $)\n",
         "a stream comes in as many parts as the server sends"),
        ("f g():\n    print([$ {one} $ for one in stream $ a $])\n",
         "a stream comes in as many parts as the server sends"),
        ("f g():\n    ages: [int] = stream $ a $\n    for age in ages:\n"
         "        print($ {age} $)\n", "2 * len(ages) + 2"),
        ("f g(n: int) -> string:\n    ret g(n - 1) + $ a $\n", "`g` may call itself"),
        ("f g(options):\n    print($ a $ with options)\n",
         "the options are those of `options` when it runs"),
    ],
)  # fmt: skip
def test_functions(text: str, most: str, tmp_path: Path) -> None:
    assert told(bounds_in(tmp_path, text), "g") == most


_OFTEN = "`while` repeats an unknown number of times"
_TURN = "        print($ a $)\n"


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("    i = 0\n    while i < n:\n" + _TURN + "        i += 1\n", "2 * n"),
        ("    i = 2\n    while i < 8:\n" + _TURN + "        i = 2 + i\n", "6"),
        ("    i = 2\n    while 8 > i:\n" + _TURN + "        i += 1\n", _OFTEN),
        ("    i = 1\n    while i <= 10:\n" + _TURN + "        i += 3\n", "8"),
        ("    i = -2\n    while i < n:\n        i += 1\n" + _TURN, "2 * n + 4"),
        ("    while n > 0:\n" + _TURN + "        n -= 1\n", "2 * n"),
        ("    while n >= 0:\n" + _TURN + "        n -= 1\n", "2 * n + 2"),
        ("    i = 9\n    while i > 4:\n" + _TURN + "        i -= 2\n", "6"),
        ("    while len(xs) > 0:\n" + _TURN + "        xs = xs[1:]\n", "2 * len(xs)"),
        ("    while len(xs) != 0:\n" + _TURN + "        xs = xs[:-1]\n", "2 * len(xs)"),
        ("    while xs != []:\n        x = xs[0]\n        xs = xs[1:]\n        if $ {x} $:\n"
         "            continue\n" + _TURN, "4 * len(xs)"),
        ("    out = []\n    while len(out) < 5:\n        out += [$ a $]\n"
         "    for one in out:\n        print($ {one} $)\n", "20"),
        ("    i = 0\n    while i < len(xs) and not $ {xs[i]} $:\n        i += 1\n", "2 * len(xs)"),
        ("    i = 0\n    while not $ done $ and i < 3:\n        i += 1\n", "8"),
        ("    i = 0\n    while i < 3:\n        if $ b $:\n            break\n        i += 1\n",
         "6"),
        ("    for x in xs:\n        i = 0\n        while i < 3 and $ b $:\n            i += 1\n",
         "6 * len(xs)"),
        ("    i = 0\n    while i < n:\n        j = 0\n        while j < i:\n    " + _TURN
         + "            j += 1\n        i += 1\n", "2 * i * n"),
        ("    i = 1 if n > 3 else 4\n    while i < 6:\n        i += 1\n" + _TURN, _OFTEN),
        ("    i = 0\n    while i < n:\n        if $ b $:\n            i += 1\n", _OFTEN),
        ("    i = 0\n    while i < n:\n        if $ b $:\n            continue\n        i += 1\n",
         _OFTEN),
        ("    i = 0\n    while i < n:\n        n += 1\n        i += 1\n" + _TURN, _OFTEN),
        ("    i = 0\n    while i < n:\n        try:\n            print($ a $)\n"
         "            i += 1\n        except:\n            print(i)\n", _OFTEN),
        ("    i = 0\n    while i < n or $ b $:\n        i += 1\n", _OFTEN),
        ("    i = 0\n    while i < n:\n        for x in xs:\n            i += 1\n" + _TURN, _OFTEN),
        ("    i = 0\n    while i < 3:\n        i = i + 1 if n > 2 else i + 2\n" + _TURN, _OFTEN),
        ("    i = 0\n    while i < 3:\n        try:\n            print($ a $)\n"
         "            i += 1\n        except:\n            i += 2\n", _OFTEN),
        ("    i = 0\n    while i < 3:\n        i += 1\n        i -= 1\n" + _TURN, _OFTEN),
        ("    i = 0\n    for x in xs:\n        while i < 3:\n            i += 1\n    " + _TURN,
         _OFTEN),
        ("    while xs != []:\n        xs = xs[1:] + [$ a $]\n", _OFTEN),
        ("    while xs != []:\n        xs = xs[1:][1:] + [$ a $]\n", _OFTEN),
        ("    while xs != []:\n        xs = xs[:2]\n" + _TURN, _OFTEN),
        ("    while xs != []:\n        xs = xs[:-1:-1]\n" + _TURN, _OFTEN),
        ("    while len(xs) > -1:\n        xs = xs[1:]\n" + _TURN, _OFTEN),
        ("    out = []\n    while len(out) < 3:\n        out += [...xs]\n" + _TURN, _OFTEN),
        ("    while n != 0:\n        n -= 1\n" + _TURN, _OFTEN),
        ("    x = 0.0\n    while x < 3:\n        x += 0.1\n" + _TURN, _OFTEN),
        ("    i = 0\n    while i < 3:\n        i = abs(n)\n" + _TURN, _OFTEN),
    ],
)  # fmt: skip
def test_while(text: str, most: str, tmp_path: Path) -> None:
    assert told(bounds_in(tmp_path, f"f g(xs: [string], n: int):\n{text}"), "g") == most


@pytest.mark.parametrize(
    ("over", "most"),
    [
        ("range(a, 10)", "2 * len(range(a, 10))"),
        ("range(10 - a)", "2 * (10 - a)"),
        ('["a", "b", "c", "d", "e", "f"][a:]', "12"),
        ("[0, 1, 2, 3, 4, 5, 6, 7][a:7]", "16"),
    ],
)
def test_a_number_that_is_one_of_several_may_be_the_least(
    over: str, most: str, tmp_path: Path
) -> None:
    text = f"f g(n: int):\n    a = 2 if n > 1 else 5\n    for x in {over}:\n        print($ a $)\n"
    assert told(bounds_in(tmp_path, text), "g") == most


def test_a_parameter_that_is_assigned_anew_is_not_the_argument(tmp_path: Path) -> None:
    text = "f g(n: int):\n    n = abs(n)\n    for x in range(n):\n        print($ {x} $)\n\ng(1)\n"
    assert told(bounds_in(tmp_path, text), "") == "`n` is known only when its function runs"


def test_a_constant_of_the_script_is_known_in_functions(tmp_path: Path) -> None:
    loop = "    for word in words:\n        print($ {word} $)\n"
    text = f'words: [string] = ["a", "b"]\n\nf g():\n{loop}\nf main():\n    g()\n'
    assert told(bounds_in(tmp_path, text), "") == "4"
    text = text.replace("\nf main", 'words = ["a"]\n\nf main')
    assert told(bounds_in(tmp_path, text), "g") == "2 * len(words)"


def test_a_name_that_may_still_be_the_outer_one(tmp_path: Path) -> None:
    text = (
        'words = ["a", "b", "c"]\n\nf g(n: int):\n    if n > 1:\n        words = ["a"]\n'
        "    for word in words:\n        print($ {word} $)\n\ng(1)\n"
    )
    assert told(bounds_in(tmp_path, text), "g") == "2 * len(words)"


def test_records_ask_for_nothing_whatever_is_passed_around(tmp_path: Path) -> None:
    text = f'type Pair(a: string)\n\n{_ASK}g = ask\nprint(Pair("x"), g("a"))\n'
    assert told(bounds_in(tmp_path, text), "") == "2"


def test_a_field_named_length_is_no_length(tmp_path: Path) -> None:
    text = "f g():\n    job = {length: 9}\n    for x in range(job.length):\n        print($ a $)\n"
    assert told(bounds_in(tmp_path, text), "g") == "2 * job.length"


def test_a_check_of_which_nothing_is_known_may_be_any_function(tmp_path: Path) -> None:
    text = f"{_ASK}f g(fits):\n    ret $ a $ with {{check: fits}}\n\n"
    assert told(bounds_in(tmp_path, text), "g") == "2"
    text += "print(g(ask))\n"
    assert told(bounds_in(tmp_path, text), "") == "nothing says how often `fits` asks"


def test_long_chains_of_assignments_end(tmp_path: Path) -> None:
    doubled = "".join(f"x{i} = x{i - 1} + x{i - 1}\n" for i in range(1, 41))
    text = 'x0 = ["a"]\n' + doubled + "for x in x40:\n    print($ {x} $)\n"
    assert told(bounds_in(tmp_path, text), "") == str(2**41)
    again = "xs = [...xs, ...xs]\n" * 200
    text = f'xs = ["a"]\n{again}for x in xs:\n    print($ {{x}} $)\n'
    assert told(bounds_in(tmp_path, text), "") == str(2**201)


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("    xs = [...xs, \"a\"]\n    xs = xs[:4]\n", "8"),
        ("    if len(xs) > 3:\n        xs = xs[:4]\n", "2 * len(xs)"),
        ("    try:\n        xs = [\"a\"]\n    except:\n        print(1)\n", "2 * len(xs) + 2"),
        ("    for n in [1, 2]:\n        ys = []\n        ys += [1]\n        ys += [2]\n"
         "    xs = ys\n", "8"),
        ("    ys = []\n    for n in [1, 2]:\n        ys += [1]\n        ys = [...ys, 2]\n"
         "    xs = ys\n", "8"),
        ("    for a in xs:\n        xs = [...xs]\n", "2 * len(xs)"),
        ("    words = {}\n    for x in xs:\n        words = {...words, [x]: 1}\n"
         "    xs = keys(words)\n", "2 * len(xs)"),
    ],
)  # fmt: skip
def test_variables(text: str, most: str, tmp_path: Path) -> None:
    script = f"f g(xs: [string]):\n{text}    for x in xs:\n        print($ {{x}} $)\n"
    assert told(bounds_in(tmp_path, script), "g") == most


def test_long_chains_of_calls_end(tmp_path: Path) -> None:
    calls = "".join(f"f f{i}(x: string):\n    ret f{i + 1}(x)\n\n" for i in range(250))
    text = f'{calls}f f250(x: string):\n    ret $ {{x}} $\n\nf0("a")\n'
    assert told(bounds_in(tmp_path, text), "") == "2"


def test_each_construct_has_a_rule() -> None:
    """A new one is unknown in bounds until somebody says what it asks."""
    rules = {n.Prompt, n.Call, n.Conditional, n.Comprehension}
    assert set(get_args(n.Expression)) == rules | (set(bodies._ONLY_PARTS) - _PARTS)
    assert set(get_args(n.Statement)) == set(bodies._STATEMENTS)
    asking = {"run"}
    assert asking == {name for name, one in BUILTINS.items() if one.effect == "unknown"}


def test_what_is_in_other_scripts(tmp_path: Path) -> None:
    (tmp_path / "other.saft").write_text(
        "f each(xs: [string]):\n    for x in xs:\n        print($ {x} $)\n\nprint($ at the top $)\n"
    )
    text = 'from other import each\nimport other\neach(["a"])\nother.each(["a", "b"])\n'
    assert told(bounds_in(tmp_path, text), "") == "8"


def test_python_that_is_given_a_function(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text("def apply(f, x):\n    return f(x)\n")
    text = f"from tools import apply\n\n{_ASK}print(apply(ask, 1))\n"
    bounds = bounds_in(tmp_path, text)
    assert told(bounds, "") == "nothing says how often `apply` calls `ask`"
    text = f'from tools import apply\n\n{_ASK}print(apply(upper, "a"), ask("b"))\n'
    assert told(bounds_in(tmp_path, text), "") == "2"


def test_a_value_of_python_may_be_a_tool(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text("def made():\n    return len\n")
    text = "from tools import made\n\nprint($ use {made()} $)\n"
    assert told(bounds_in(tmp_path, text), "") == "10"


def test_a_part_that_may_run_again_counts_twice(tmp_path: Path) -> None:
    text = (
        'for x in ["a", "b"]:\n    said = $ {x} {read_text("f.txt")} $\n'
        '    write_text("f.txt", said)\n'
    )
    bounds = bounds_in(tmp_path, text)
    assert told(bounds, "") == "8"
    in_order = ProgramBounds(bounds.facts, bounds.source, LIMITS, Overlapping(is_on=False))
    assert in_order.program.bound.number == 4


def test_a_long_formula_is_shown_whole(tmp_path: Path) -> None:
    names = [f"words_{letter}" for letter in "abcdef"]
    loops = "".join(f"    for x in {name}:\n        print($ {{x}} $)\n" for name in names)
    given = ", ".join(names)
    text = f"f each({given}):\n{loops}\nf again({given}):\n    each({given})\n"
    told = as_text(bounds_in(tmp_path, text)).splitlines()
    formula = " + ".join(f"2 * len({name})" for name in names)
    assert told[1].endswith(f"<= {formula}") and told[-1].endswith(f"<= {formula}  `each`")


def _length(name: str) -> Bound:
    return measured(Measure("len", name))


def test_formulas_are_simplified() -> None:
    a, b = _length("a"), _length("b")
    assert (a * number(2) + a).text == "3 * len(a)"
    assert (b + a * a * number(2) + number(3) + b).text == "2 * len(a) * len(a) + 2 * len(b) + 3"
    assert largest([a + number(3), a + number(1)]).text == "len(a) + 3"
    assert largest([a + number(3), a + b]).text == "len(a) + len(b) + 3"
    assert largest([largest([a, b]), number(2)]) == largest([number(2), b, a])
    # Of several ways, each product as often as in any of them.
    assert (number(2) * largest([a, number(1)])).text == "2 * len(a) + 2"
    assert largest([a * number(2) + b, a + b * number(3)]).text == "2 * len(a) + 3 * len(b)"
    assert least(a, number(4)).number == 4
    assert least(a + b, a) == a + b
    assert number(0).text == "0" and (a * number(0)).is_zero
    assert number(5).less(2).text == "3" and (a + number(1)).less(2) == a
