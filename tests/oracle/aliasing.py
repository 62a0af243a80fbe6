"""Generated scripts about who holds a list or an object: it grows, is bound, kept, gone over.

Two names for one value must never see it change; the interpreter always makes a new one.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

# Most is about two names, so that things happen to the same value.
_LISTS = ("xs", "xs", "ys")
_OBJECTS = ("row", "row", "counts")
_SHOW = "print(xs, ys, row, counts, held)"
_PRELUDE = """\
f same(value):
    ret value
f list_of(value: [any]) -> [any]:
    ret value
f row_of(value: {[string]: any}) -> {[string]: any}:
    ret value
f longer(value: [any]) -> [any]:
    value += [7]
    value += [8]
    ret value
f told(value):
    print("told", value)
    ret value
"""
_BEGIN = (
    *("xs = [1, 2]", "ys = []", "row = {}", "counts = {a: 1}", "held = (nil, nil)", "flag = true"),
)
_BEGIN_INSIDE = ("state = {list: [], row: {}, count: 0}", "groups = {a: []}", 'key = "a"')
# Places to fill: `<x>` and `<y>` are lists, `<o>` and `<p>` objects, `<i>` an item, `<k>` a key,
# `<c>` a condition, `<l>` where a loop goes.
_GROWTH = (
    *("<x> = <x> + [<i>]", "<x> += [<i>]", "<x> += [<i>]", "<x> = [...<x>, <i>]", "<x> += <y>"),
    *("<x> = [...<x>, ...<y>]", "<x> = [...<x>, <i>, ...<y>]", "<o> = {...<o>, [<k>]: <i>}"),
    *("<o> = {...<o>, [<k>]: <i>}", "<o> = {...<o>, a: <i>}", "<o> = {...<o>, ...<p>}"),
    *("<o> = {...<o>, b: <i>, [<k>]: <i>}", "<x> += zip(<x>, [1, 2, 3])"),
)
# What grows inside of an object: `state` holds a list, an object and a number, `groups` lists.
_INSIDE = (
    *("state = {...state, list: state.list + [<i>]}", "state = {...state, list: state.list[1:]}"),
    *("state = {...state, list: state.list + [<i>], count: state.count + 1}",) * 2,
    *("state = {...state, count: state.count + 1, list: [...state.list, 3]}",) * 2,
    *("state = {...state, list: state.list + [4], count: len(state.list)}", "state = {...state}"),
    *("state = {...state, list: state.list + [5], row: {...state.row, [<k>]: 1}}",) * 2,
    *("state = {...state, row: {...state.row, b: <i>}}", "state = {...state, list: state.list}"),
    *("state = {...state, list: state.list + <y>}", "state = {...state, list: <x>}"),
    *("state = {...state, list: state.list + [6], count: 1 / len(<y>)}",) * 2,
    *("groups = {...groups, [key]: groups[key] + [<i>]}",) * 2,
    *("groups = {...groups, [key]: get(groups, key, []) + [7]}",) * 2,
    *("groups = {...groups, [<k>]: get(groups, key, []) + [<i>]}", "groups = {...groups, a: [8]}"),
    *("groups = {...groups, [key]: get(groups, key, []) + [1 / len(<y>)]}", "key = <k>"),
    *("groups = {...groups, [key]: get(groups, key, []) + get(groups, key, [])}", "<x> = <x>[1:]"),
    *("groups = {...groups, [key]: <x>}", "groups = {...groups, a: groups.a + [9]}"),
    *("<x> = <x>[:-1]", "<x> = <x>[len(<x>) - 1:]"),
)
_LET_OUT = (
    *("held = state.list", "held = state", "held = [state.list]", "held = same(state)"),
    *("<x> = state.list", "<o> = state.row", "held = {...state}", "held = values(state)"),
    *("held = items(state)", 'held = get(state, "list", 0)', "held = {...state, count: 2}"),
    *("held = state if <c> else 1", "held = [state.list for _ in [1]]", "held = (state.row, 1)"),
    *("held = groups[key]", "held = groups", "held = get(groups, key, <x>)", "held = groups.a"),
    *("held = [v for v in values(groups)]", "held = [groups[k] for k in keys(groups)]"),
    *("held = {...groups}", "held = zip(values(groups), [1, 2])", "held = [groups]"),
    *("held = max(values(groups), by: len)", "held = values({...groups})", "held = same(groups.a)"),
)
_ANEW = (
    *("state = {list: [], row: {}, count: 0}",) * 3,
    *("state = {list: <x>, row: {}, count: 0}", "state = {list: [1], row: <o>, count: len(<x>)}"),
    *("groups = {a: []}", "groups = {}", "groups = {a: <x>}", "groups = {[key]: [<i>]}"),
    *("groups = {...groups, ...{a: <x>}}", "groups = {a: [1], [key]: [2]}", "print(state.list)"),
)
_SHARING = (
    *("<x> = <y>", "<o> = <p>", "held = <x>", "held = [<x>, 1]", "held = {a: <o>}"),
    *("held = (<x>, <o>)", "held = {[<k>]: <x>}", "held = [...[<x>], <y>]", "held = same(<x>)"),
    *("<x> = list_of(<y>)", "<o> = row_of(<p>)", "<x> = longer(<y>)", "held = [same(<o>)]"),
    *("<x> = <y> if <c> else <x>", "<x> = [<i>] if <c> else <y>", "held = <x> if <c> else <y>"),
    *("held = [<x> for _ in [1, 2]]", "held = zip([<x>], [<y>])", "held = get({}, <k>, <x>)"),
    *("held = items({a: <x>})", "held = get(default: <o>, object: {}, key: <k>)"),
    *("held = max(<x>, <y>, by: len)", "<x> = min(<y>, <x>, by: len)", "<x>, held = (<y>, <x>)"),
    *("_, <x> = (<y>, <y>)", "held = values({a: <o>})[0]", "<x> = [<y>, <x>][0]"),
)
_FRESH = (
    *("<x> = []", "<x> = [<i>, <i>]", "<o> = {}", "<o> = {a: <i>}", "<x> = <y>[0:2]"),
    *("<x> = reversed(<y>)", "<x> = [one for one in <y>]", "<x> = keys(<o>)", "<x> = range(3)"),
    *("<x> = <y> + <y>", "<o> = {...<p>}", "<x> = [...<y>]", "<x> = <y>[::2]"),
)
_ITEMS = (
    *("1", "2", "len(<x>)", "<x>", "<o>", "[<x>]", "{a: <o>}", 'get(<o>, "a", 0)', "str(<o>)"),
    *("(<x>,)", "told(3)", "same(<x>)", 'f"{<x>}"'),
)
_KEYS = ('"a"', '"b"', "str(len(<x>))", '"k" + str(len(<o>))', 'told("c")')
_NAMES = {"<x>": _LISTS, "<y>": _LISTS, "<o>": _OBJECTS, "<p>": _OBJECTS}
_OVER = (
    *("<x>", "<x>", "<x>[0:2]", "keys(<o>)", "[1, 2]", "range(2)", "enumerate(<x>)"),
    *("zip(<x>, <y>)", "reversed(<x>)", "values(<o>)", "items(<o>)", "<x> if <c> else <y>"),
)
_OVER_INSIDE = (
    *("state.list", "groups[key]", "groups.a", "keys(groups)", "values(groups)", "keys(state.row)"),
    *("enumerate(state.list)", "state.list if <c> else <x>", "get(groups, key, [])"),
)
_CONDITIONS = ("len(<x>) > 2", "len(<o>) > 1", "flag", "not flag", "<x> == <y>")
_GUARD = ('if len(f"{xs}{ys}{row}{counts}") > 300:', "    break")
# Several lines about one value; a place that comes twice is filled with the same.
_SCENES = """\
f look#():
    ret <x>
<x> = [<i>]
held = look#()
<x> += [<i>]

f look#():
    ret {a: <o>}
<o> = {}
held = look#()
<o> = {...<o>, a: <i>}

f look#(flag):
    if flag:
        <x> = [9]
    ret <x>
<x> = [<i>]
held = look#(<c>)
<x> += [<i>]

<x> = [<i>]
f look#(extra = <x>):
    ret extra
<x> += [<i>]
held = look#()

rows# = [[1], [2]]
<x> = []
for <x> in rows#:
    <x> += [<i>]
print(rows#)

<x> = [<i>]
for n# in <x> if <c> else <y>:
    <x> += [n#]
    !

<x> = [1, 2]
for n# in <x>:
    !
    if <c>:
        <x> = []
    <x> += [n#]

<x> = [<i>]
for n# in [1, 2]:
    <x> += [n#]
    if <c>:
        held = <x>
        break
<x> += [<i>]

<x> = [<i>]
for n# in range(3):
    if <c>:
        held = <x>
        continue
    <x> += [n#]

<x> = [<i>]
try:
    held = <x>
    print(1 / len(<y>))
    <x> = []
except:
    <x> += [<i>]

try:
    <x> += [1]
    <x> += same("ab")
except:
    <x> += [<i>]"""
_SCENES_INSIDE = """\
state = {list: <x>, row: {}, count: 0}
state = {...state, list: state.list + [<i>]}

groups = {a: [1], b: <x>}
groups = {...groups, [key]: groups[key] + [3]}
groups = {...groups, b: groups.b + [4]}

state = {list: [1, 2], row: {}, count: 0}
for n# in state.list:
    state = {...state, list: state.list + [n#], count: state.count + 1}
    !

state = {list: [1], row: {}, count: 0}
try:
    state = {...state, list: state.list + [2], count: 1 / (len(<x>) - len(<y>))}
except:
    print(state)

groups = {}
for key in ["a", "b"]:
    for k# in ["b", "c"]:
        groups = {...groups, [key]: get(groups, k#, []) + [1]}"""
_FAILING = ("print(1 / (len(<x>) - len(<y>)))", 'fail "no"', "<x> += [1 / len(<y>)]")


class Aliasing:
    """Writes a script; `below(n)` makes every choice. It may be about what `is_inside` of objects,
    too.
    """

    def __init__(self, below: Callable[[int], int], *, is_inside: bool = False) -> None:
        self.below = below
        self.is_inside = is_inside
        self.forms = (_GROWTH, _GROWTH, _SHARING, _SHARING, _FRESH)
        self.begin, self.over = _BEGIN, _OVER
        self.show, self.guard, self.scenes = _SHOW, _GUARD, _SCENES
        if is_inside:
            self.forms = (_GROWTH, _SHARING, _FRESH, _INSIDE, _INSIDE, _LET_OUT, _ANEW)
            self.begin, self.over = (*_BEGIN, *_BEGIN_INSIDE), (*_OVER, *_OVER_INSIDE)
            self.scenes += "\n\n" + _SCENES_INSIDE
            self.show = _SHOW.replace("held", "held, state, groups")
            self.guard = (_GUARD[0].replace("{counts}", "{counts}{state}{groups}"), _GUARD[1])
        self.counted = 0

    def choose(self, options: Sequence[T]) -> T:
        """One of `options`."""
        return options[self.below(len(options))]

    def script(self) -> str:
        """A whole script: lines of the module, or of a function that is called twice."""
        steps = [line for _ in range(self.choose((3, 5, 7))) for line in self.statement(2)]
        body = [*self.begin, *steps, self.show]
        if self.below(2):
            given = ("ys = []", "counts = {a: 1}", "flag = true")
            lines = [line for line in body if line not in given]
            body = ["f main_part(ys, counts, flag):", *_indented(lines)]
            body += ["first = [9, [9]]", "print(main_part(first, {z: 1}, true), first)"]
            body += ["print(main_part(first, {}, false), first)"]
        return _PRELUDE + "\n".join(body) + "\n"

    def statement(self, depth: int) -> list[str]:
        """A statement and its blocks."""
        made = self.below(16)
        if depth > 0 and made < 5:
            return self.nested(depth, made)
        if made == 5:
            return [self.show]
        if depth == 2 and made < 9:
            return self.scene()
        forms = self.choose(self.forms)
        lines = [self.filled(self.choose(forms))]
        if forms is _SHARING or forms is _LET_OUT:
            grows = _GROWTH if forms is _SHARING else _INSIDE
            lines += [self.filled(self.choose(grows)), self.show]
        return lines

    def scene(self) -> list[str]:
        """Several lines about one value."""
        self.counted += 1
        text = self.filled(self.choose(self.scenes.split("\n\n"))).replace("#", str(self.counted))
        return [*text.replace("    !", "\n".join(_indented(self.guard))).split("\n"), self.show]

    def block(self, depth: int) -> list[str]:
        """The statements of a block."""
        return [line for _ in range(self.choose((1, 2, 3))) for line in self.statement(depth - 1)]

    def nested(self, depth: int, kind: int) -> list[str]:
        """An `if`, a `try`, a `for` or a `while`."""
        block = self.block(depth)
        if kind == 0:
            other = ["else:", *_indented(self.block(depth))] if self.below(2) else []
            return [f"if {self.filled(self.choose(_CONDITIONS))}:", *_indented(block), *other]
        if kind == 1:
            fails = self.filled(self.choose(_FAILING))
            body = [*block, *self.choose(([fails], [fails, *self.block(depth)], []))]
            return ["try:", *_indented(body), "except:", *_indented(self.block(depth))]
        leave = [self.filled(f"if {self.choose(_CONDITIONS)}:")]
        leave += [f"    {self.choose(('break', 'continue'))}"]
        block = self.choose((block, [*block, *leave], [*block, *leave, *self.block(depth)]))
        self.counted += 1
        if kind == 4:
            turns = [f"i{self.counted} += 1", *self.guard, *block]
            return [f"i{self.counted} = 0", f"while i{self.counted} < 3:", *_indented(turns)]
        over = self.filled(self.choose(self.over))
        return [f"for n{self.counted} in {over}:", *_indented([*self.guard, *block])]

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
    return ["    " + line for text in lines for line in text.split("\n")]
