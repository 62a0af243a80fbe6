"""Expressions of generated scripts: text of a type, mostly right and sometimes not.

A `Writer` knows the names that are visible and what they really hold. With a small chance an
expression is of another type than asked for, so that scripts fail, at compile time or at run time;
with a larger one a value is hidden behind `same(...)`, whose type the compiler does not know.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from tests.oracle.forms import (
    BOOL_FORMS,
    DATE_TEXTS,
    DECIMAL_TEXTS,
    FLOAT_FORMS,
    FLOAT_TEXTS,
    FLOATS,
    FORMS_OF_DATES,
    INT_FORMS,
    INT_TEXTS,
    INTS,
    KEYS,
    LITERALS_OF_DATES,
    MAPPED,
    PLACES,
    SLICES,
    STRING_FORMS,
    STRINGS,
)
from tests.oracle.kinds import (
    ANY,
    BOOL,
    DATE,
    DAYS,
    FLOAT,
    INT,
    OF_DATES,
    SCALARS,
    STRING,
    TYPES,
    Either,
    Exactly,
    Kind,
    ListOf,
    MapOf,
    ObjectOf,
    RecordOf,
    TupleOf,
    Type,
    members,
    sample,
)
from tests.oracle.model import Answer, ToolUse

T = TypeVar("T")


@dataclass(slots=True)
class Function:
    """A function that can be called: what it takes, what it gives, what is annotated; whether its
    calls by a model wait for approval, and whether it is a variable that holds one of these.
    """

    name: str
    parameters: tuple[tuple[str, Type], ...]
    annotated: tuple[bool, ...]
    defaults: int
    gives: Type
    waits: bool = False
    is_kept: bool = False


@dataclass(slots=True)
class Scope:
    """The names that are visible, innermost last, and what they hold."""

    variables: dict[str, Type] = field(default_factory=dict[str, Type])
    functions: dict[str, Function] = field(default_factory=dict[str, Function])

    def copy(self) -> "Scope":
        """The same names, to be added to."""
        return Scope(dict(self.variables), dict(self.functions))


class Writer:
    """Writes expressions; `replies` is what the model answers to the prompts in them.

    `below(n)` makes every choice: a number from 0 up to n, 0 being the simplest.
    """

    def __init__(self, below: Callable[[int], int]) -> None:
        self.below = below
        self.scope = Scope()
        self.replies: dict[int, tuple[Answer, ...]] = {}
        self.faults = 1
        self.keys = 0
        # The tools of the prompt that was written last.
        self.offered: tuple[Function, ...] = ()

    def choose(self, options: Sequence[T]) -> T:
        """One of `options`; the first is the simplest."""
        return options[self.below(len(options))]

    def chance(self, percent: int) -> bool:
        """True in about so many of a hundred cases."""
        return self.below(100) >= 100 - percent

    def expression(self, type_: Type, depth: int = 2) -> str:
        """An expression that gives a value of the type."""
        if self.chance(self.faults):
            wrong = self.choose(TYPES)
            # Of an object with dates as keys, literals that it is spread into have to know that.
            is_hidden = self.chance(60) and not (isinstance(wrong, MapOf) and wrong.key != STRING)
            return f"same({self.fresh(wrong, 1)})" if is_hidden else self.fresh(wrong, 1)
        if depth > 0 and self.chance(12):
            return f"same({self.expression(type_, depth - 1)})"
        if depth > 0 and self.chance(5):
            then, other = self.expression(type_, depth - 1), self.expression(type_, depth - 1)
            return f"({then} if {self.condition(depth - 1)} else {other})"
        options = [self.fresh]
        if self.variables_of(type_):
            options += [self.variable] * 3
        if depth > 0:
            options += [self.operation] * 3
            if any(function.gives == type_ for function in self.scope.functions.values()):
                options.append(self.call)
        return self.choose(options)(type_, depth)

    def variables_of(self, type_: Type) -> list[str]:
        """The visible variables of a type."""
        return [name for name, held in self.scope.variables.items() if held == type_ != ANY]

    def variable(self, type_: Type, _depth: int) -> str:
        return self.choose(self.variables_of(type_))

    # Literals

    def fresh(self, type_: Type, depth: int) -> str:
        """A literal, with expressions for its parts."""
        match type_:
            case Kind(word="int"):
                return self.choose(INTS)
            case Kind(word="float"):
                return self.choose(FLOATS)
            case Kind(word="bool"):
                return self.choose(("true", "false"))
            case Kind(word="string"):
                return self.choose(STRINGS)
            case Kind(word="nil"):
                return "nil"
            case Kind() if type_ in OF_DATES:
                return self.choose(LITERALS_OF_DATES[type_])
            case Kind():
                return f"same({self.expression(self.choose(TYPES), depth - 1)})"
            case ListOf():
                items = [self.item(type_, depth - 1) for _ in range(self.choose((2, 1, 0, 3)))]
                return "[" + ", ".join(items) + "]"
            case TupleOf(items=items):
                return "(" + ", ".join(self.expression(item, depth - 1) for item in items) + ")"
            case ObjectOf(fields=fields):
                return self.object_literal(fields, depth)
            case MapOf(key=key) if depth > 0 and key == STRING and self.chance(15):
                return self.comprehension(type_, depth)
            case MapOf():
                entries = [self.entry(type_, depth - 1) for _ in range(self.choose((1, 2, 0, 3)))]
                if entries and type_.key != STRING:
                    entries.append(self.dated(type_, depth - 1))
                return "{" + ", ".join(dict.fromkeys(entries)) + "}"
            case RecordOf():
                return self.construction(type_, depth)
            case Either():
                return self.expression(self.choose(type_.members), depth)
            case Exactly(values=values):
                return json.dumps(self.choose(values))

    def construction(self, type_: RecordOf, depth: int) -> str:
        if depth > 0 and self.chance(10):
            name, held = self.choose(type_.fields)
            made = self.construction(type_, depth - 1)
            if not made.startswith("same"):
                return f"{{...{made}, {name}: {self.expression(held, depth - 1)}}}"
        if self.chance(8):
            # Data, of which only places that ask for the record make one.
            return f"same({self.object_literal(type_.fields, depth)})"
        count = self.choose((len(type_.fields), type_.required))
        values = [(name, self.expression(held, depth - 1)) for name, held in type_.fields[:count]]
        first_named = self.choose((count, 0, 1))
        positional = [value for _, value in values[:first_named]]
        named = [f"{name}: {value}" for name, value in values[first_named:]]
        return f"{type_.name}({', '.join((*positional, *named))})"

    def object_literal(self, fields: Sequence[tuple[str, Type]], depth: int) -> str:
        if self.chance(20):
            fields = fields[::-1]
        written = [f"{name}: {self.expression(type_, depth - 1)}" for name, type_ in fields]
        if depth > 0 and self.chance(20):
            whole = self.expression(ObjectOf(tuple(fields)), depth - 1)
            place = self.choose((0, 1))
            written = [*written[:place], f"...{whole}", *written[place : self.choose((1, 2))]]
        return "{" + ", ".join(written) + "}"

    def item(self, type_: ListOf, depth: int) -> str:
        """An item of a list, or a list or tuple whose items go into it."""
        if depth <= 0 or not self.chance(20):
            return self.expression(type_.item, depth)
        spread = self.choose((type_, TupleOf((type_.item, type_.item))))
        return f"...{self.expression(spread, depth)}"

    def entry(self, type_: MapOf, depth: int) -> str:
        """What stands in an object with any keys."""
        if type_.key != STRING:
            spread = [f"...{self.expression(type_, depth)}"] if depth > 0 else []
            return self.choose((self.dated(type_, depth), *spread))
        value = self.expression(type_.value, depth)
        forms = [f"[{self.expression(STRING, min(depth, 1))}]: {value}", f"{self.key()}: {value}"]
        if depth > 0:
            forms.append(f"...{self.expression(type_, depth)}")
        return self.choose(forms)

    def dated(self, type_: MapOf, depth: int) -> str:
        """An entry whose key is certainly of its type: so the object is known to have such keys."""
        key = self.choose(LITERALS_OF_DATES[type_.key])
        moved = f"{key} + duration(days: {self.expression(INT, 0)})" if self.chance(20) else key
        return f"[{moved}]: {self.expression(type_.value, depth)}"

    def key(self) -> str:
        """A name of a field, each time another one."""
        self.keys += 1
        return f"k{self.keys}"

    # Operations

    def operation(self, type_: Type, depth: int) -> str:
        """An operator or a builtin whose value is of the type."""
        match type_:
            case Kind(word="int"):
                return self.filled(INT_FORMS, depth)
            case Kind(word="float"):
                return self.filled(FLOAT_FORMS, depth)
            case Kind(word="bool"):
                return self.condition(depth)
            case Kind(word="string"):
                return self.filled(STRING_FORMS, depth)
            case Kind() if type_ in OF_DATES:
                return self.filled(FORMS_OF_DATES[type_], depth)
            case RecordOf(name="Bill") if self.chance(20):
                return self.fill("raised(<bill>, <decimal>)", depth)
            case ListOf():
                return self.list_operation(type_, depth)
            case TupleOf():
                return f"{self.expression(type_, depth - 1)}[0:]"
            case MapOf() if self.chance(30):
                held = self.expression(MapOf(type_), depth - 1)
                return f'get({held}, "a", {self.expression(type_, depth - 1)})'
            case _:
                return self.fresh(type_, depth)

    def filled(self, forms: Sequence[str], depth: int) -> str:
        """A form with an expression of its type at each `<type>`."""
        return self.fill(self.choose(forms), depth)

    def fill(self, form: str, depth: int) -> str:
        """The form with an expression at each `<type>`."""
        for word, type_ in PLACES.items():
            while word in form:
                made = self.expression(type_, depth - 1)
                form = form.replace(word, made, 1)
        while "<*>" in form:
            form = form.replace("<*>", self.expression(self.choose(TYPES), depth - 1), 1)
        form = form.replace("<int text>", self.choose(INT_TEXTS))
        form = form.replace("<date text>", self.choose(DATE_TEXTS))
        form = form.replace("<decimal text>", self.choose(DECIMAL_TEXTS))
        return form.replace("<float text>", self.choose(FLOAT_TEXTS))

    def condition(self, depth: int) -> str:
        """An expression that gives a bool."""
        if depth <= 0:
            return self.fresh(BOOL, 0)
        if self.chance(25):
            kind = self.choose(TYPES)
            left, right = self.expression(kind, depth - 1), self.expression(kind, depth - 1)
            return f"({left} {self.choose(('==', '!='))} {right})"
        if self.chance(20):
            kind = self.choose((INT, STRING, BOOL, FLOAT))
            item, items = self.expression(kind, depth - 1), self.expression(ListOf(kind), depth - 1)
            return f"({item} {self.choose(('in', 'not in'))} {items})"
        if self.chance(6):
            return f"({self.prompt(BOOL, depth)} {self.choose(('and', 'or'))} {self.condition(0)})"
        return self.filled(BOOL_FORMS, depth)

    def list_operation(self, type_: ListOf, depth: int) -> str:
        whole, item = self.expression(type_, depth - 1), type_.item
        forms = [f"({whole} + {self.expression(type_, depth - 1)})", f"reversed({whole})"]
        forms += [f"{whole}[{self.choose(SLICES)}]"]
        if item in (INT, FLOAT, STRING, *OF_DATES):
            forms += [
                f"sorted({whole})",
                f"sorted({whole}, {self.choose(('true', 'reverse: true'))})",
            ]
        if item in KEYS:
            order = self.choose(("", ", reverse: true", f", reverse: {self.expression(BOOL, 0)}"))
            forms += [f"sorted({whole}, by: {self.choose(KEYS[item])}{order})"] * 2
        if item == INT:
            forms += ["range(3)", "range(1, 4)", "range(5, 0, -2)", f"range({whole}.length)"]
        if item == STRING:
            forms += [f"split({self.expression(STRING, depth - 1)})", 'split("a,b", ",")']
            forms += [f"keys({self.expression(TYPES[14], depth - 1)})"]
        if item == INT:
            forms += [f"values({self.expression(MapOf(INT), depth - 1)})"]
        if item == DATE:
            forms += [f"keys({self.expression(DAYS, depth - 1)})"]
        if item == TupleOf((INT, STRING)):
            names = self.expression(ListOf(STRING), depth - 1)
            forms += [f"enumerate({names})", f"zip([1, 2], {names})", f"enumerate({names}, 1)"]
        if item in MAPPED:
            forms += [f"[one({self.expression(INT, depth - 1)}) for one in {MAPPED[item]}]"]
        forms += [self.comprehension(type_, depth)] * 2
        return self.choose(forms)

    def comprehension(self, type_: ListOf | MapOf, depth: int) -> str:
        """A comprehension of a list, or of an object with texts as keys."""
        source = self.choose((INT, STRING))
        items = self.expression(ListOf(source), depth - 1)
        outer, self.scope = self.scope, self.scope.copy()
        name = self.choose(("x", "y", "item"))
        self.scope.functions.pop(name, None)
        self.scope.variables[name] = source
        if isinstance(type_, MapOf):
            made = f"[{self.expression(STRING, 1)}]: {self.expression(type_.value, depth - 1)}"
            opened, closed = "{}"
        else:
            made = self.expression(type_.item, depth - 1)
            opened, closed = "[]"
        test = f" if {self.condition(depth - 1)}" if self.chance(40) else ""
        self.scope = outer
        return f"{opened}{made} for {name} in {items}{test}{closed}"

    # Calls and prompts

    def call(self, type_: Type, depth: int) -> str:
        """A call of a function that gives the type."""
        fitting = [one for one in self.scope.functions.values() if one.gives == type_]
        return self.call_of(self.choose(fitting), depth)

    def call_of(self, function: Function, depth: int) -> str:
        """A call of the function."""
        count = len(function.parameters)
        given = count - (function.defaults if self.chance(50) else 0)
        arguments: list[str] = []
        is_named = False
        for number, (name, type_) in enumerate(function.parameters[:given]):
            is_annotated = function.annotated[number]
            if (is_annotated or type_ == STRING) and type_ != ANY and self.chance(6):
                value = self.prompt(type_, depth)
            else:
                value = self.expression(type_, depth - 1)
            is_named = is_named or self.chance(15)
            arguments.append(f"{name}: {value}" if is_named else value)
        return f"{function.name}({', '.join(arguments)})"

    def prompt(self, type_: Type, depth: int, kept: Sequence[Function] = ()) -> str:
        """A prompt whose place asks for the type, with replies that are mostly right.

        `kept` are the tools of the conversation that it goes on with; `self.offered` are all.
        """
        number = len(self.replies) + 1
        holes: list[str] = []
        replies: list[Answer] = []
        visible = [name for name, held in self.scope.variables.items() if held != ANY]
        for _ in range(self.choose((0, 1, 2))):
            if visible and self.chance(70):
                holes.append("{" + self.choose(visible) + "}")
            else:
                holes.append("{" + self.expression(self.choose(SCALARS), min(depth - 1, 1)) + "}")
        mode = ""
        tools = [one for one in self.scope.functions.values() if _is_tool(one)]
        options: list[str] = []
        self.offered = tuple(kept)
        if kept and self.chance(10):
            options.append("tools: []")
            self.offered = ()
        elif tools and self.chance(35):
            tool = self.choose(tools)
            known = next((one for one in kept if one.name == tool.name), None)
            waits = tool.waits or self.chance(45)
            if known is not None and self.chance(90):
                waits = known.waits
            tool = replace(tool, waits=waits)
            self.offered = (*kept, *([] if tool in kept else [tool]))
            is_bare = tool.is_kept or not waits
            if self.chance(40):
                options.append(f"tools: [{tool.name if is_bare else f'approve({tool.name})'}]")
            elif is_bare:
                holes.append("{" + tool.name + "}")
            else:
                holes.append(self.choose(("{%s:approve}", "{approve(%s)}")) % tool.name)
        if self.offered and (not kept or self.chance(50)):
            called = [self.choose(self.offered) for _ in range(self.choose((1, 2)))]
            mode = self.choose(("", "do "))
            replies.append(tuple(map(self.tool_use, called)))
        if _is_beyond_repair(type_) and self.chance(20):
            replies.append("no idea at all")
        reply = sample(type_, self.choose)
        replies.append(reply if type_ == STRING else json.dumps(reply, ensure_ascii=False))
        self.replies[number] = tuple(replies)
        if self.chance(10):
            options.append("max_repairs: 0")
        written = f" with {{{', '.join(options)}}}" if options else ""
        return self.asking_text(number, mode, holes, written)

    def asking_text(self, number: int, mode: str, holes: list[str], options: str) -> str:
        """A prompt on one line or on several."""
        if self.chance(20) and mode == "":
            return f"$\n        #{number} asks\n          {' '.join(holes)}\n\n    ${options}"
        return f"{mode}$ #{number} asks {' '.join(holes)} ${options}"

    def tool_use(self, tool: Function) -> ToolUse:
        arguments = {name: sample(type_, self.choose) for name, type_ in tool.parameters}
        if arguments and self.chance(15):
            arguments[next(iter(arguments))] = {"wrong": 1}
        return ToolUse(tool.name, arguments)


def _is_beyond_repair(type_: Type) -> bool:
    """Whether plain words cannot stand for a value of the type, not even for the only item."""
    return STRING not in (*members(type_), type_.item if isinstance(type_, ListOf) else None)


def _is_tool(function: Function) -> bool:
    return all(
        type_ in SCALARS and is_annotated
        for (_, type_), is_annotated in zip(function.parameters, function.annotated, strict=True)
    )
