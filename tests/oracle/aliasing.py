"""Generated scripts about who holds a list or an object: it grows, is bound, kept, gone over.

Two names for one value must never see it change; the interpreter always makes a new one.
Every value is shown at every turn.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

_LISTS = ("xs", "ys", "zs")
_OBJECTS = ("row", "counts")
_PRELUDE = """\
kept = (nil, nil)
f same(value):
    ret value
f longer(value):
    value = value + [7]
    value = value + [8]
    ret value
f wrapped(value):
    ret [value, value]
f show(a, b, c, d, e):
    print(a, b, c, d, e)
"""
# Growth and its parts; `<x>` is a list, `<i>` an item, `<o>` an object, `<y>` a list or tuple.
_GROWTH = (
    *("<x> = <x> + [<i>]", "<x> += [<i>]", "<x> = [...<x>, <i>]", "<x> += <y>", "<x> = <x> + <y>"),
    *("<x> = [...<x>, ...<y>]", "<x> = [...<x>, <i>, ...<y>]", "<o> = {...<o>, [<k>]: <i>}"),
    *("<o> = {...<o>, a: <i>}", "<o> = {...<o>, ...<p>}", "<o> = {...<o>, b: <i>, [<k>]: <i>}"),
)
_SHARING = (
    *("<x> = <y>", "<o> = <p>", "held = [<x>, 1]", "held = {a: <o>}", "held = (<x>, <o>)"),
    *("<x> = same(<y>)", "held = wrapped(<x>)", "<x> = longer(<y>)", "held = same(<o>)"),
    *("<x> = <y> if <c> else <x>", "<x> = [<i>] if <c> else <y>", "held = [<x> for _ in [1, 2]]"),
    *("held = zip(<x>, <y>)", "held = get({a: <x>}, <k>, <y>)", "held = items({a: <x>})"),
    *("<x> = held[0]", "held = [...[<x>], <y>]", "held = values({a: <o>})", "<o> = same(<p>)"),
)
_FRESH = (
    *("<x> = []", "<x> = [<i>, <i>]", "<o> = {}", "<o> = {a: <i>}", "<x> = <y>[0:2]"),
    *("<x> = reversed(<y>)", "<x> = [one for one in <y>]", "<x> = keys(<o>)", "<x> = range(3)"),
    *("<x> = <y> + <y>", "<o> = {...<p>}", "<x> = [...<y>]", "<x> = sorted([<i>, <i>])"),
)
_ITEMS = (
    *("1", "len(<x>)", "<x>", "<o>", "[<x>]", "get(<o>, <k>, 0)", "<x>[0:1]", "str(<o>)"),
    *("(<x>,)", "2", "same(<x>)", "[one for one in <x>]"),
)
_KEYS = ('"a"', '"b"', "str(len(<x>))", '"k" + str(len(<o>))', "same(str(len(<x>)))")
_NAMES = {"<x>": _LISTS, "<y>": _LISTS, "<o>": _OBJECTS, "<p>": _OBJECTS}
_OVER = (
    *("<x>", "<x>[0:2]", "keys(<o>)", "[1, 2]", "range(2)", "enumerate(<x>)", "zip(<x>, <y>)"),
    *("reversed(<x>)", "values(<o>)", "items(<o>)", "same(<x>)", "<x> if <c> else <y>"),
)
_CONDITIONS = ("len(<x>) > 2", "len(<o>) > 1", "<x> == <y>", "flag", "not flag")


class Aliasing:
    """Writes one function, or lines of the module; `below(n)` makes every choice."""

    def __init__(self, below: Callable[[int], int]) -> None:
        self.below = below
        self.counted = 0

    def choose(self, options: Sequence[T]) -> T:
        """One of `options`."""
        return options[self.below(len(options))]

    def script(self) -> str:
        """A whole script."""
        begin = ["xs = []", "ys = [1, 2]", "zs = [3]", "row = {}", "counts = {a: 1}"]
        begin += ["held = [[0]]", "flag = true"]
        steps = [line for _ in range(self.choose((6, 9, 12))) for line in self.statement(3)]
        shown = "show(xs, ys, zs, (row, counts), held)"
        body = [*begin, *steps, shown]
        if self.below(2):
            ends = self.choose(("ret xs", "ret (xs, row)", "ret held"))
            body = ["f main_part(xs, row):", *_indented([*body[1:], ends])]
            body += ["first = [9, [9]]", "print(main_part(first, {z: 1}), first)"]
            if self.below(2):
                body += ["print(main_part(first, {}), first)"]
        return _PRELUDE + "\n".join(body) + "\n"

    def statement(self, depth: int) -> list[str]:
        """A statement and its blocks."""
        forms = self.choose((_GROWTH, _GROWTH, _GROWTH, _SHARING, _FRESH))
        made = self.below(12)
        if depth > 0 and made < 3:
            return self.nested(depth, made)
        if made == 4:
            return ["show(xs, ys, zs, (row, counts), held)"]
        if made == 5:
            return self.inner()
        return [self.filled(self.choose(forms))]

    def nested(self, depth: int, kind: int) -> list[str]:
        """An `if`, a `for` or a `while`."""
        block = [line for _ in range(self.choose((1, 2, 3))) for line in self.statement(depth - 1)]
        if kind == 0:
            other = ["else:", *_indented(self.statement(depth - 1))] if self.below(2) else []
            return [f"if {self.filled(self.choose(_CONDITIONS))}:", *_indented(block), *other]
        leave = ["if len(xs) > 4:", f"    {self.choose(('break', 'continue'))}"]
        block = self.choose((block, [*block, *leave], [*leave, *block]))
        self.counted += 1
        if kind == 1:
            over = self.filled(self.choose(_OVER))
            guard = ["if len(xs) + len(ys) + len(zs) > 40:", "    break"]
            return [f"for n{self.counted} in {over}:", *_indented([*guard, *block])]
        name = f"i{self.counted}"
        turns = [f"{name} = {name} + 1", *block]
        return [f"{name} = 0", f"while {name} < 2:", *_indented(turns)]

    def inner(self) -> list[str]:
        """A function that sees a name of its surroundings, and is called."""
        self.counted += 1
        name = f"inner{self.counted}"
        return [f"f {name}():", self.filled("    ret [<x>, <o>]"), f"held = {name}()"]

    def filled(self, form: str) -> str:
        """The form with names and items in its places; what grows is the same on both sides."""
        for place, options in _NAMES.items():
            literal = {"<y>": "[<i>]", "<p>": "{c: <i>}"}.get(place)
            form = form.replace(place, self.choose((*options, literal) if literal else options))
        while "<" in form.replace(" < ", ""):
            for place, options in (("<i>", _ITEMS), ("<k>", _KEYS), ("<c>", _CONDITIONS)):
                form = form.replace(place, self.choose(options), 1)
            for place, options in _NAMES.items():
                form = form.replace(place, self.choose(options), 1)
        return form


def _indented(lines: Sequence[str]) -> list[str]:
    return ["    " + line for line in lines]
