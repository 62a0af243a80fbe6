"""Generated scripts: statements of every kind over expressions of every kind.

`scripts()` is a hypothesis strategy for pairs of a text and the replies that its prompts get. Loops
are bounded; there is no recursion. Names come from a small pool, so that calls, loops and
comprehensions hide outer names and read them before they do.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

from hypothesis import strategies as st

from tests.oracle.expressions import Function, Writer
from tests.oracle.kinds import (
    ANY,
    BOOL,
    CITY,
    DECIMAL,
    FLOAT,
    INT,
    RECORDS,
    STRING,
    TREE,
    TYPES,
    Either,
    Exactly,
    ListOf,
    TupleOf,
    Type,
    notation,
    sample,
)
from tests.oracle.model import Script, ToolUse

_NAMES = ("a", "b", "n", "x", "things", "text", "list", "class", "sum_", "total")
_FUNCTIONS = ("g", "h", "twice", "lookup", "pick")
_PARAMETERS = ("p", "q", "x", "n")
_PRELUDE = [
    *(*RECORDS, "", "f same(value: any):", "    ret value", ""),
    *("f size_of(city: City) -> float:", "    ret city.size", ""),
    *("f name_of(city: City):", "    ret city.name", ""),
    *("f head_of(parts):", "    ret parts[0]", ""),
    *("f day_of(bill: Bill) -> date:", "    ret bill.day", ""),
    *("f raised(bill: Bill, total: decimal) -> Bill:", "    ret {...bill, total: total}", ""),
    *("f total_of(bill: Bill):", "    ret bill.total", ""),
    *("f due_of(bill: Bill):", "    ret bill.due", ""),
    *("f half_of(n: float) -> float:", "    ret n / 2", ""),
    *("f halved(change: (int) -> float, n: int) -> float:", "    ret change(n)", ""),
    *("f told(write: (float) -> string, n: float) -> string:", "    ret write(n)", ""),
    *("f bound(n: float, other: any) -> float:", "    n = 1", "    n += 2", "    n = other"),
    *("    ret n", ""),
    *("f grown(n: int) -> int:", "    ret n + 1", ""),
    *("f applied(change: (int) -> int, n: int) -> int:", "    ret change(change(n))", ""),
]
# How deep the blocks of the outermost statements may be.
_OUTERMOST = 2
_PAIR = TupleOf((INT, STRING))
_NESTED = TupleOf((STRING, TupleOf((INT, BOOL))))
# What a value may stand in.
_AROUND = ("{}", "[{}]", "({}, 1)", "{{a: {}}}", "[[{}]]", "same([{}])", "{{[str(1)]: {}}}")


@dataclass(frozen=True, slots=True)
class Generated:
    """A script and what the model answers to its prompts."""

    text: str
    replies: Script

    def __repr__(self) -> str:
        return f"Generated(\n{self.text}\nreplies={self.replies!r})"


def scripts() -> st.SearchStrategy[Generated]:
    """Scripts of some five to thirty statements; each is made from a seed of its own."""
    # Choices drawn one by one make every second script the same as an earlier one.
    return st.integers(0, 2**64 - 1).map(lambda seed: write(Random(seed).randrange))


def write(below: Callable[[int], int]) -> Generated:
    """The script that these choices make."""
    writer = _Statements(below)
    lines = list(_PRELUDE)
    for _ in range(writer.choose((4, 3, 6, 8, 2))):
        lines += writer.statement(_OUTERMOST)
    lines += writer.show_all()
    return Generated("\n".join(lines) + "\n", writer.replies)


class _Statements(Writer):
    """Writes statements as lines; the outermost have no indentation."""

    in_loop = False
    returns: Type | None = None
    in_function = 0
    counted = 0

    def __init__(self, below: Callable[[int], int]) -> None:
        super().__init__(below)
        # The names of the failures that are at hand.
        self.failures: list[str] = []
        # The tools of conversations, by the names of these.
        self.tools_of: dict[str, tuple[Function, ...]] = {}
        # The names that were annotated so far: what is bound to them is asked for that type.
        self.annotations: set[str] = set()

    def statement(self, depth: int) -> list[str]:
        """One statement and its blocks."""
        options = [self.assign, self.assign, self.annotated, self.annotated, self.print]
        if depth > 0:
            options += [self.if_, self.if_, self.for_, self.for_, self.while_, self.try_, self.try_]
            if self.in_function < 2:
                options += [self.function, self.function, self.function, self.scoping]
        options += [self.assert_, self.bare, self.asking, self.destructuring, self.going_on]
        options += [self.unpack, self.accumulate, self.fail, self.streaming, self.itself]
        options += [self.drafting, self.keeping, self.as_data, self.approving]
        if self.in_loop:
            options.append(self.leave)
        if self.in_function:
            options.append(self.early_return)
        return self.choose(options)(depth)

    def block(self, depth: int) -> list[str]:
        """An indented block of statements."""
        lines = [line for _ in range(self.choose((1, 2, 3))) for line in self.statement(depth - 1)]
        return ["    " + line for line in lines]

    def show_all(self) -> list[str]:
        """Prints every variable, so that a difference is seen where it is made."""
        return [f"print({name})" for name in self.scope.variables]

    # Names

    def target(self) -> str:
        """A name to assign."""
        taken = (*self.scope.functions, *self.failures)
        return self.choose([name for name in _NAMES if name not in taken])

    def target_of_text(self) -> str:
        """A name that holds whatever a prompt gives that is asked for nothing else."""
        name = self.target()
        return f"said_{self.count()}" if name in self.annotations else name

    def hold(self, name: str, type_: Type) -> None:
        """Notes what a name holds from here on."""
        self.scope.variables[name] = type_

    def after_branch(self, before: dict[str, Type]) -> None:
        """What is known where branches meet: what all of them agree on."""
        now = self.scope.variables
        self.scope.variables = {
            name: held if now.get(name) == held else ANY for name, held in before.items()
        }

    # Simple statements

    def assign(self, _depth: int) -> list[str]:
        name = self.target()
        type_ = self.choose(TYPES)
        known = self.scope.variables.get(name, ANY)
        if known != ANY and self.chance(70):
            type_ = known
        if known != ANY and self.chance(20):
            return self.augmented(name, known)
        value = self.expression(type_)
        self.hold(name, type_)
        return [f"{name} = {value}"]

    def accumulate(self, _depth: int) -> list[str]:
        """A number, a text or a list that is there already, and what is added to it."""
        added = (INT, FLOAT, STRING, ListOf(INT), ListOf(STRING), ListOf(FLOAT))
        known = [
            (name, held)
            for name, held in self.scope.variables.items()
            # What is bound to a prompt keeps its conversation only where it is bound to no more.
            if held in added and not name.startswith("told_")
        ]
        return self.augmented(*self.choose(known)) if known else self.assign(0)

    def augmented(self, name: str, known: Type) -> list[str]:
        """An operator before the `=`; what it gives may be a float, or an error."""
        operator = self.choose("++-*/%")
        self.hold(name, known if operator == "+" and known != INT else ANY)
        return [f"{name} {operator}= {self.expression(known)}"]

    def unpack(self, _depth: int) -> list[str]:
        whole = self.choose((_PAIR, _NESTED, ListOf(INT)))
        value = self.expression(whole if not self.chance(5) else self.choose(TYPES))
        if isinstance(whole, TupleOf):
            return [f"{self.pattern(whole)} = {value}"]
        names = [self.target(), "_"]
        self.hold(names[0], INT)
        return [f"{', '.join(names)} = {value}"]

    def annotated(self, _depth: int) -> list[str]:
        name, type_ = self.target(), self.choose(TYPES)
        self.annotations.add(name)
        if self.chance(8):
            value, held, type_ = self.expression(type_), type_, ANY
        elif type_ in (FLOAT, DECIMAL) and self.chance(50):
            value, held = self.expression(INT), type_
        elif type_ == ListOf(FLOAT) and self.chance(50):
            value, held = self.expression(ListOf(INT)), type_
        elif self.chance(15):
            value, held = self.prompt(type_, 1), type_
        else:
            value, held = self.expression(type_), type_
        self.hold(name, held)
        return [f"{name}: {notation(type_)} = {value}"]

    def print(self, _depth: int) -> list[str]:
        values = [self.expression(self.choose(TYPES)) for _ in range(self.choose((1, 2, 3)))]
        return [f"print({', '.join(values)})"]

    def itself(self, _depth: int) -> list[str]:
        """A value beside itself, alone and inside of others: only a NaN is another one then."""
        name, type_ = self.target(), self.choose((FLOAT, FLOAT, CITY, TREE, *TYPES))
        value = self.expression(type_)
        if type_ == FLOAT and self.chance(60):
            value = 'float("nan")'
        self.hold(name, type_)
        whole = self.choose(_AROUND).format(name)
        same = self.choose(("{0} == {0}", "{0} != {0}", "{0} in [{0}]", "contains([{0}], {0})"))
        others = [f"Tree({name}) == Tree({name})"] if type_ == FLOAT else []
        return [f"{name} = {value}", f"print({', '.join([same.format(whole), *others])})"]

    def assert_(self, _depth: int) -> list[str]:
        condition = self.condition(2)
        if not self.chance(15):
            condition = f"{condition} or true"
        message = f", {self.expression(self.choose((STRING, INT)), 1)}" if self.chance(30) else ""
        return [f"assert {condition}{message}"]

    def fail(self, _depth: int) -> list[str]:
        failures = [f"fail {name}" for name in self.failures]
        value = self.prompt(STRING, 1) if self.chance(5) else self.expression(STRING, 1)
        failed = self.choose((f"fail {value}", *failures))
        return [failed] if self.chance(10) else [f"if {self.condition(1)}:", f"    {failed}"]

    def bare(self, _depth: int) -> list[str]:
        functions = list(self.scope.functions.values())
        if not functions:
            return self.print(0)
        return [self.call_of(self.choose(functions), 2)]

    def asking(self, _depth: int) -> list[str]:
        name = self.target_of_text()
        asked = self.prompt(STRING, 1)
        self.hold(name, STRING)
        return [f"{name} = {asked}"]

    def streaming(self, _depth: int) -> list[str]:
        """A prompt whose pieces are gone through, printed or put together."""
        asked, name = f"stream {self.prompt(STRING, 1)}", self.target_of_text()
        lines = [f"print({asked})"]
        if self.chance(60):
            self.hold(name, STRING)
            lines = [f"{name} = {asked}"]
            if self.chance(50):
                lines = [f'{name} = ""', f"for piece in {asked}:", "    write(piece)"]
                lines.append(f"    {name} = {name} + piece")
        return lines

    def going_on(self, _depth: int) -> list[str]:
        """A prompt after another one: under a name of its own, or under that one's."""
        told = [name for name in self.scope.variables if name.startswith("told_")]
        earlier = self.choose(told) if told else f"told_{self.count()}"
        name = self.choose((f"told_{self.count()}", earlier))
        lines = [] if told else [f"{earlier} = {self.prompt(STRING, 1)}"]
        if not told:
            self.tools_of[earlier] = self.offered
        self.hold(earlier, STRING)
        kept = self.tools_of.get(earlier, ())
        lines.append(f"{name} = {self.prompt(STRING, 1, kept)} after {earlier}")
        self.tools_of[name] = self.offered
        self.hold(name, STRING)
        return [*lines, f"print({name})"]

    def approving(self, depth: int) -> list[str]:
        """A variable that holds a function whose calls by a model wait for approval."""
        functions = [one for one in self.scope.functions.values() if not one.is_kept]
        if not functions or depth < _OUTERMOST:
            return self.print(depth)
        function, name = self.choose(functions), f"careful_{self.count()}"
        self.scope.functions[name] = replace(function, name=name, waits=True, is_kept=True)
        return [f"{name} = approve({function.name})"]

    def as_data(self, _depth: int) -> list[str]:
        """A prompt after the messages of another one, as they are or read from JSON; or of none."""
        told = [name for name in self.scope.variables if name.startswith("told_")]
        name, data = f"told_{self.count()}", f"data_{self.count()}"
        lines = [f"{data} = []"]
        if told:
            lines = [
                f"{data} = {self.choose(told)}.messages",
                f"print({data}[0].content, [one.role for one in {data}], {data}[-1].content)",
            ]
        after = self.choose((data, f"parse(json({data}))"))
        lines.append(f"{name} = {self.prompt(STRING, 1)} after {after}")
        self.tools_of[name] = self.offered
        self.hold(name, STRING)
        return [*lines, f"print({name}, len({name}.messages))"]

    def drafting(self, _depth: int) -> list[str]:
        """A stream whose drafts are gone over."""
        type_ = self.choose((ListOf(INT), ListOf(CITY), CITY, CITY, TREE, STRING, *TYPES))
        asked, name = f"stream {self.prompt(type_, 1)}", self.target()
        before = dict(self.scope.variables)
        self.hold(name, type_ if isinstance(type_, ListOf) else ANY)
        lines = [f"for {name}: {notation(type_)} in {asked}:", f"    print({name})"]
        lines += self.looped(0)
        self.after_branch(before)
        return lines

    def keeping(self, _depth: int) -> list[str]:
        """A stream that is kept, by a name or by a function that gives it."""
        number = self.count()
        name, part = f"flow_{number}", f"part_{number}"
        ending = [f"for {part} in {name}:", f"    write({part})", "print()"]
        match self.choose(("text", "list", "drafts", "loop", "call")):
            case "text":
                lines = [f"{name} = stream {self.prompt(STRING, 1)}", *self.print(0), *ending]
                self.hold(name, STRING)
                return [*lines, f"print({self.prompt(STRING, 1)} after {name}, {name})"]
            case "list":
                asked = self.prompt(ListOf(INT), 1)
                self.hold(name, ListOf(INT))
                head = f"for {part} in {name}:"
                return [f"{name}: [int] = stream {asked}", head, f"    print({part})"]
            case "drafts":
                type_ = self.choose((CITY, ListOf(CITY)))
                written, asked = notation(type_), self.prompt(type_, 1)
                self.hold(name, type_)
                head = f"for {part}: {written} in {name}:"
                return [f"{name}: {written} = stream {asked}", head, f"    print({part})"]
            case way:
                asked, given = self.prompt(STRING, 1), self.expression(STRING, 1)
                function = [f"f gives_{number}(p: string) -> stream:", f"    ret stream {asked}"]
                call = f"gives_{number}({given})"
                if way == "loop":
                    return [*function, f"for {part} in {call}:", *ending[1:]]
                return [*function, f"{name} = {call}", *ending, f"print({name}.text)"]

    def destructuring(self, _depth: int) -> list[str]:
        names = [name for name in _NAMES if name not in self.scope.functions]
        first, second = self.choose(names[:4]), self.choose(names[4:])
        fields = {first: self.choose(TYPES), second: self.choose(TYPES)}
        number = len(self.replies) + 1
        uses = [
            ToolUse(f"__saft_return_{name}", {"value": sample(type_, self.choose)})
            for name, type_ in fields.items()
        ]
        together, apart = (tuple(uses),), tuple((use,) for use in uses)
        self.replies[number] = self.choose((together, apart, apart[::-1], ("no", *together)))
        pattern = ", ".join(f"{name}: {notation(type_)}" for name, type_ in fields.items())
        for name, type_ in fields.items():
            self.hold(name, type_)
        return [f"{{{pattern}}} = $ #{number} hands in $"]

    def leave(self, _depth: int) -> list[str]:
        return [f"if {self.condition(1)}:", f"    {self.choose(('break', 'continue'))}"]

    def early_return(self, _depth: int) -> list[str]:
        return [f"if {self.condition(1)}:", f"    {self.ret()}"]

    def ret(self) -> str:
        if self.returns is None:
            return "ret"
        if self.returns == STRING and self.chance(10):
            return f"ret {self.prompt(self.returns, 1)}"
        return f"ret {self.expression(self.returns)}"

    # Blocks

    def if_(self, depth: int) -> list[str]:
        test = self.prompt(BOOL, 1) if self.chance(10) else self.condition(2)
        if self.chance(15):
            test = self.expression(self.choose(TYPES), 1)
        before = dict(self.scope.variables)
        lines = [f"if {test}:", *self.block(depth)]
        after = [dict(self.scope.variables)]
        if self.chance(25):
            self.scope.variables = dict(before)
            lines += [f"elif {self.condition(1)}:", *self.block(depth)]
            after.append(dict(self.scope.variables))
        if self.chance(50):
            self.scope.variables = dict(before)
            lines += ["else:", *self.block(depth)]
        for variables in after:
            self.after_branch(variables | {name: ANY for name in before.keys() - variables.keys()})
        self.scope.variables = {
            name: held for name, held in self.scope.variables.items() if name in before
        }
        return lines

    def try_(self, depth: int) -> list[str]:
        """A block that often fails, and what is done then."""
        before = dict(self.scope.variables)
        faults, self.faults = self.faults, self.choose((12, self.faults))
        lines = ["try:", *self.block(depth)]
        self.faults = faults
        after = dict(self.scope.variables)
        name = self.choose(("error", "e", "", self.target()))
        self.scope.variables = {
            one: held if after.get(one) == held else ANY for one, held in before.items()
        }
        lines.append(f"except {name}:" if name else "except:")
        if name:
            self.failures.append(name)
            hidden = self.scope.variables.pop(name, None)
            said = f'{name}.message if {name}.kind == "failed" else ""'
            lines.append(f"    print({name}.kind, {said})")
        lines += self.block(depth)
        if name:
            self.failures.pop()
            if hidden is not None:
                self.scope.variables[name] = hidden
        self.after_branch(after | {one: ANY for one in before.keys() - after.keys()})
        self.after_branch(before)
        return lines

    def for_(self, depth: int) -> list[str]:
        before = dict(self.scope.variables)
        item = self.choose((INT, STRING, _PAIR, ListOf(INT), _NESTED))
        items = self.expression(ListOf(item))
        if self.chance(5):
            items = self.expression(self.choose(TYPES))
        pattern = self.pattern(item)
        lines = [f"for {pattern} in {items}:", *self.looped(depth)]
        self.after_branch(before)
        return lines

    def pattern(self, item: Type) -> str:
        if not isinstance(item, TupleOf):
            name = self.target()
            self.hold(name, item)
            return name
        free = [name for name in (*_NAMES, "v", "w") if name not in self.scope.functions]
        return self.names_for(item, free)

    def names_for(self, item: TupleOf, free: list[str]) -> str:
        """Different names for the parts of a tuple."""
        parts: list[str] = []
        for inner in item.items:
            if isinstance(inner, TupleOf):
                parts.append(f"({self.names_for(inner, free)})")
                continue
            parts.append(self.choose(free))
            free.remove(parts[-1])
            self.hold(parts[-1], inner)
        return ", ".join(parts)

    def while_(self, depth: int) -> list[str]:
        counter = self.choose(("i", "j", "k"))
        before = dict(self.scope.variables)
        self.hold(counter, ANY)
        limit = self.choose((2, 3, 1))
        head = [f"{counter} = 0", f"while {counter} < {limit}:", f"    {counter} = {counter} + 1"]
        lines = [*head, *self.looped(depth)]
        self.after_branch(before)
        return lines

    def looped(self, depth: int) -> list[str]:
        outer, self.in_loop = self.in_loop, True
        lines = self.block(depth)
        self.in_loop = outer
        return lines

    # Functions

    def scoping(self, _depth: int) -> list[str]:
        """One name in three scopes, assigned here and there; the closures outlive their calls."""
        names = [name for name in _NAMES if name not in self.scope.functions]
        name, made = self.choose(names), f"made_{self.count()}"
        before = self.choose((f"{name} = 1", f'{name} = "outer"', "print(0)"))
        inner = self.steps_on(name)
        steps = self.steps_on(name)
        place = self.below(len(steps) + 1)
        closure = ["f inner():", *("    " + line for step in inner for line in step)]
        steps.insert(place, [*closure, f"    ret {name}"])
        body = [*(line for step in steps for line in step), "ret inner"]
        after = self.choose((f"{name} = 5", f'{name} = "later"', f"print({made}(true)())"))
        self.hold(name, ANY)
        self.scope.functions.pop(made, None)
        return [
            before,
            f"f {made}(c):",
            *("    " + line for line in body),
            f"kept = {made}({self.choose(('false', 'true'))})",
            after,
            "print(kept())",
        ]

    def steps_on(self, name: str) -> list[list[str]]:
        """Statements that read or assign a name, on some paths only."""
        steps = (
            [f"print({name})"],
            [f"{name} = 2"],
            ["if c:", f"    {name} = 3"],
            [f"for {name} in [4, 6]:", f"    print({name})"],
            [f"for i in range({self.choose((0, 1))}):", f"    {name} = i"],
            [f"print([{name} for {name} in [7, 8]], {name})"],
            ["while not c:", f"    {name} = 9", "    break"],
        )
        return [self.choose(steps) for _ in range(self.choose((1, 0, 2)))]

    def count(self) -> int:
        self.counted += 1
        return self.counted

    def function(self, depth: int) -> list[str]:
        names = [
            name
            for name in _FUNCTIONS
            if name not in self.scope.functions and name not in self.scope.variables
        ]
        if not names:
            return self.print(depth)
        function = self.signature(self.choose(names))
        head, made = self.head(function)
        outer = (self.scope, self.in_loop, self.returns, self.failures)
        self.failures = [*self.failures] if self.chance(30) else []
        self.scope, self.in_loop, self.returns = self.scope.copy(), False, function.gives
        self.in_function += 1
        for name, type_ in function.parameters:
            self.scope.functions.pop(name, None)
            self.hold(name, type_)
        count = self.choose((1, 2, 0, 3))
        body = [line for _ in range(count) for line in self.statement(depth - 1)]
        last = f"ret {self.expression(function.gives)}"
        self.in_function -= 1
        self.scope, self.in_loop, self.returns, self.failures = outer
        self.scope.functions[function.name] = function
        return [*made, head, *("    " + line for line in (*body, last))]

    def signature(self, name: str) -> Function:
        count = self.choose((1, 2, 0))
        start = self.choose((0, 1, 2))
        parameters = tuple((one, self.choose(TYPES)) for one in _PARAMETERS[start : start + count])
        annotated = tuple(self.chance(60) for _ in parameters)
        defaults = 1 if parameters and self.chance(20) else 0
        return Function(name, parameters, annotated, defaults, self.choose(TYPES))

    def head(self, function: Function) -> tuple[str, list[str]]:
        """The head, and what has to stand before it."""
        written: list[str] = []
        for number, (name, type_) in enumerate(function.parameters):
            text = f"{name}: {notation(type_)}" if function.annotated[number] else name
            if number >= len(function.parameters) - function.defaults:
                text += f" = {self.fresh(type_, 0)}"
            written.append(text)
        must = isinstance(function.gives, Either | Exactly)
        arrow = f" -> {notation(function.gives)}" if must or self.chance(40) else ""
        return f"f {function.name}({', '.join(written)}){arrow}:", []
