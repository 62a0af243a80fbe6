"""Random scripts that ask, print, read and write files, and may fail in any way."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

FILES = ("a.txt", "b.txt", "c.txt")
# Of Python; all but one do something when they are made, asked for something, or compared.
CLASSES = ("Amount", "Kind", "Parcel", "Plain", "Rated", "Tagged")
# Texts that come out of them.
_BY_CLASSES = (
    *("Plain({}).text", "Plain({}).text", "Parcel({}).text", "Parcel({}).label"),
    *("Amount(text: {}).text", "Kind({}).value", "Tagged({}).tags[0]"),
    'str(Rated({}) == Rated("x"))',
)

# Texts that dates and decimals make of a text and a number; some fail, for most texts or always.
_BY_DATES = (
    *('str(date("2026-01-31") + duration(days: {number}))', "str(decimal({number}) / 4)"),
    *('str(decimal({number}) * decimal("1.50") - 1)', "str(duration(hours: {number}) * 2)"),
    *('f"{{date("2026-01-31"):%d.%m.}}" + {text}', 'str(decimal("1") / {number})'),
    *("str(decimal({text}))", "str(date({text}).year)", "str(duration(days: 1) / ({number} - 1))"),
)


class Script(NamedTuple):
    """A script, and the one that it imports as `helpers`, if it does."""

    text: str
    helpers: str | None = None


class _Names:
    """The variables that have a value, by type."""

    def __init__(self, texts: list[str], numbers: list[str], lists: list[str]) -> None:
        self.texts, self.numbers, self.lists = texts, numbers, lists

    def inside(self) -> _Names:
        return _Names([*self.texts], [*self.numbers], [*self.lists])


class _Writer:
    def __init__(self, seed: int, count: int = 0) -> None:
        self.random = Random(seed)
        # Apart, so that what else is written stays what it was.
        self.streams = Random(seed)
        self.others = Random(f"others {seed}")
        self.forms = Random(f"forms {seed}")
        self.dates = Random(f"dates {seed}")
        self.days = Random(f"dates of maps {seed}")
        # The maps whose keys are dates.
        self.dated: set[str] = set()
        self.objects = Random(f"objects {seed}")
        self.heads = Random(f"heads {seed}")
        self.talks = Random(f"talks {seed}")
        self.values = Random(f"values {seed}")
        self.lines: list[str] = []
        self.count = count
        # Functions of one text that give one, and those that give a bool.
        self.functions: list[str] = []
        self.tools: list[str] = []
        # A function that reads the variable of that name.
        self.shared = ""
        # Whether there are classes of Python.
        self.has_classes = False
        self.in_function = False

    def one(self, *ways: str) -> str:
        return self.random.choice(ways)

    def odds(self, chance: float) -> bool:
        return self.random.random() < chance

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def new(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    # Expressions

    def text(self, names: _Names) -> str:
        choices = [f'"{self.one("x", "y", "z")}"', *names.texts * 2]
        choices += [f"str({name})" for name in names.numbers]
        choices += [f'f"{{{name}}}, {{{name}:03d}}"' for name in names.numbers]
        chosen = self.random.choice(choices)
        added = f'{chosen} + "{self.one("k", "l")}"' if self.odds(0.2) else chosen
        if self.dates.random() < 0.04:
            number = self.dates.choice(["1", "2", *names.numbers])
            added = self.dates.choice(_BY_DATES).format(text=added, number=number)
        return self.through_python(added)

    def through_python(self, text: str) -> str:
        """A text, maybe by way of a class of Python, or with what a file holds."""
        if self.others.random() < 0.015:
            return f"{text} + {self.reading()}"
        if not self.has_classes or self.others.random() > 0.12:
            return text
        return self.others.choice(_BY_CLASSES).format(text)

    def reading(self) -> str:
        """What a file holds, that may not be there."""
        return f'read_text("{self.others.choice((*FILES, "none.txt"))}")'

    def prompt(self, names: _Names) -> str:
        self.count += 1
        values = [self.text(names) for _ in range(self.random.randint(0, 2))]
        values += [self.random.choice(names.lists)] if names.lists and self.odds(0.2) else []
        values += [self.random.choice(self.tools)] if self.tools and self.odds(0.15) else []
        values += [f'read_text("{self.one(*FILES)}")'] if self.odds(0.1) else []
        stream = "stream " if self.streams.random() < 0.05 else ""
        return f"{stream}$ q{self.count} {' '.join('{' + value + '}' for value in values)} $"

    def asking(self, names: _Names) -> str:
        if self.functions and self.odds(0.5):
            return f"{self.random.choice(self.functions)}({self.text(names)})"
        return self.prompt(names)

    def number(self, names: _Names) -> str:
        choices = ["1", "2", *names.numbers * 2]
        choices += [f"len({name})" for name in (*names.lists, *names.texts)]
        return self.random.choice(choices)

    def condition(self, names: _Names) -> str:
        text = f'{self.text(names)} {self.one("==", "!=")} "{self.one("w1", "w2", "x")}"'
        return self.one(text, f"{self.number(names)} < {self.number(names)}")

    def items(self, names: _Names) -> str:
        if names.lists and self.odds(0.6):
            return self.random.choice(names.lists)
        if self.odds(0.15):
            return self.asked(names)
        some = ", ".join(self.text(names) for _ in range(self.random.randint(2, 4)))
        return self.one(f"[{some}]", f"[{some}]", 'list_files("*.txt")')

    def asked(self, names: _Names) -> str:
        """A list of what several prompts or calls give."""
        item, inside = self.new("v"), names.inside()
        inside.texts = [item, item, *names.texts]
        condition = f" if {self.condition(inside)}" if self.odds(0.3) else ""
        if self.others.random() < 0.1:
            condition = f" if contains({self.reading()} + {item}, {item})"
        value = self.asking(inside)
        if self.functions and self.odds(0.4):
            value = f"{self.random.choice(self.functions)}({item})"
        clauses = f"for {item} in {self.items(names)}{condition}"
        if self.objects.random() < 0.2:
            key = self.objects.choice((item, f'{item} + "k"', '"k"', value))
            return f"values({{[{key}]: {value} {clauses}}})"
        return f"[{value} {clauses}]"

    # Statements

    def natural(self, names: _Names) -> None:
        """Loops as people write them first: maps and sums grow, a handler goes on or gives up."""
        item, inside = self.new("v"), names.inside()
        inside.texts += [item, item]
        grown = [self.new("m"), self.new("n"), self.new("s"), self.new("xs")]
        empty = [": {[string]: string} = {}", " = 0", ' = "x"', ": [string] = []"]
        if self.days.random() < 0.1:
            empty[0] = ": {[date]: string} = {}"
            self.dated.add(grown[0])
        for name, value in zip(grown, empty, strict=True):
            self.line(0, name + value)
        items = "xs0" if self.forms.random() < 0.4 else self.items(names)
        self.line(0, f"for {item} in {items}:")
        depth, is_tried = 1, self.forms.random() < 0.5
        if self.forms.random() < 0.3:
            self.line(1, f"print({item})")
        if is_tried:
            self.line(1, "try:")
            depth = 2
        if is_tried and self.forms.random() < 0.4:
            self.line(2, f'print({self.asking(inside)})\n        if {item} == "x":')
            self.line(3, 'fail "no"')
        if self.forms.random() < 0.3:
            other, deeper = self.new("v"), inside.inside()
            deeper.texts += [other, other]
            self.line(depth, f"for {other} in {self.items(inside)}:")
            for _ in range(self.forms.randint(1, 2)):
                self.grow(depth + 1, grown, other, deeper)
        for _ in range(self.forms.randint(1, 3)):
            self.grow(depth, grown, item, inside)
        if is_tried:
            self.line(1, "except error:")
            kind = self.forms.randrange(4)
            if kind == 0:
                self.line(2, 'if error.kind == "provider":\n            fail error')
            elif kind == 1:
                self.line(2, 'if error.kind != "provider":\n            fail error')
            elif kind == 2:
                self.line(2, "fail error")
            self.grow(2, grown, item, inside)
        if self.forms.random() < 0.3:
            self.grow(1, grown, item, inside)
        for name in grown:
            self.line(0, f"print({name})")

    def grow(self, depth: int, grown: list[str], item: str, names: _Names) -> None:
        """Adds to one of a map, a number, a text and a list; maybe under a condition."""
        counts, number, text, found = grown
        value = self.forms.choice((self.prompt(names).removeprefix("stream "), self.text(names)))
        key = self.forms.choice((item, self.text(names), f"upper({item})"))
        first, named = '"k"', item
        if counts in self.dated:
            first = 'date("2026-02-01")'
            key, named = f"{first} + duration(days: len({key}))", f"[date({item})]"
        ways = (
            f"{counts} = {{...{counts}, [{key}]: {value}}}",
            f"{counts} = {{...{counts}, [{key}]: {value}, [{first}]: {item}}}",
            f"{counts} = {{...{counts}, {named}: {value}}}",
            f"{number} += len({value})",
            f"{text} = {text} + {value}",
            f"{found} += [{value}]",
            f"{number} = {number} + len({text})",
        )
        if self.forms.random() < 0.2:
            self.line(depth, f"if {self.condition(names)}:")
            depth += 1
        self.line(depth, self.forms.choice(ways))

    def checked(self, names: _Names) -> None:
        """A loop whose head says which items its prompts are for, maybe in a function."""
        depth, dice = 0, self.heads
        name, is_inside = self.new("f"), dice.random() < 0.3
        if is_inside:
            self.line(0, f"f {name}(a: string) -> string:")
            names, depth = _Names(["a", *names.texts], [*names.numbers], [*names.lists]), 1
        kept = [self.new("n"), self.new("xs"), self.new("m"), self.new("xs")]
        count, seen, rows, found = kept
        self.line(depth, f"{count} = 0\n{'    ' * depth}{seen}: [string] = []")
        words = ("w1", "x", "y", "z", "w2")[: dice.randint(2, 5)]
        known = ", ".join(f'["{one}"]: "{one}k"' for one in words)
        self.line(depth, f"{rows}: {{[string]: string}} = {{{known}}}")
        self.line(depth, f"{found}: [string] = []")
        is_tried = dice.random() < 0.3
        if is_tried:
            self.line(depth, "try:")
        item, inside = self.new("v"), names.inside()
        inside.texts = [item, item, *names.texts]
        items = '["w1", "x", "y", "x", "z"]' if dice.random() < 0.6 else self.items(names)
        begun = depth + is_tried
        self.line(begun, f"for {item} in {items}:")
        for _ in range(dice.randint(1, 3)):
            self.check(begun + 1, kept, item, inside, is_inside=is_inside)
        for _ in range(dice.randint(1, 2)):
            asked = self.prompt(inside).removeprefix("stream ")
            if dice.random() < 0.4:
                key = dice.choice((item, item, f'"{words[0]}"'))
                asked = self.looking_up(asked, f"{rows}[{key}]")
            way = dice.random()
            if way < 0.15:
                other = self.new("v")
                self.line(begun + 1, f"for {other} in [{rows}[{item}], {item}]:")
                self.line(begun + 2, f"{found} += [$ in {{{other}}} {self.count} $]")
            elif way < 0.25:
                self.line(begun + 1, f'if {rows}[{item}] != "xk":')
                self.line(begun + 2, f"print($ if {{{item}}} {self.count} $)")
            self.assign(begun + 1, inside.texts, "s", asked)
        if dice.random() < 0.1:
            self.check(begun + 1, kept, item, inside, is_inside=is_inside)
        told = dice.choice((item, inside.texts[-1], self.text(inside)))
        rests = [f"print({told})", f"print({told})", f"{found} += [{told}]"]
        rests += [f"print({count}, {seen})", f'write_text("a.txt", {told})']
        for way in dice.sample(rests, 2):
            self.line(begun + 1, way)
        if is_tried:
            self.line(depth, "except error:")
            ways = ["print(error)", f"print({count}, {seen})", "fail error"]
            self.line(depth + 1, dice.choice(ways))
        self.line(depth, f"print({dice.choice((count, seen, found))}, {found})")
        if is_inside:
            self.line(1, f'ret "{name}"')
            self.line(0, f"print({name}({self.text(_Names(names.texts[1:], [], []))}))")

    def looking_up(self, asked: str, found: str) -> str:
        """A prompt, and an item that may be missing, before or behind it, or only maybe."""
        ways = (
            f"$ of {{{found}}} $",
            f"$ of {{{found}}} $ + {asked}",
            f"{asked} + {found}",
            f"{found} + {asked}",
            f'$ of {{{found}}} {{read_text("{self.heads.choice((*FILES, "none.txt"))}")}} $',
            f'$ of {{read_text("{self.heads.choice((*FILES, "none.txt"))}")}} {{{found}}} $',
            f'({found} if {asked} == "w1" else {asked})',
        )
        return self.heads.choice(ways)

    def talking(self, names: _Names) -> None:
        """A loop with a conversation for each item: with tools, as data, streamed, in drafts."""
        dice, item, first = self.talks, self.new("v"), self.new("c")
        tools = f" with {{tools: [{dice.choice(self.tools)}]}}" if self.tools else ""
        flow, part, given = self.new("w"), self.new("p"), self.new("f")
        self.line(0, f"f {given}(a: string) -> stream:")
        self.line(1, f"ret stream $ told {{a}} ${tools}")
        self.line(0, f"for {item} in {self.items(names)}:")
        self.line(1, f"{first} = $ begins {{{item}}} ${dice.choice(('', tools))}")
        ways = (
            [f"print($ goes on {{{item}}} $ after {first})"],
            [f"{flow} = $ goes on {{{item}}} $ after {first}", f"print(len({flow}.messages))"],
            [f"{flow} = {first}.messages", f"print($ as data {{{item}}} $ after {flow}{tools})"],
            [f"print($ from JSON $ after parse(json({first}.messages)){tools})"],
            [
                *(f"{flow} = stream $ in pieces {{{item}}} $ after {first}", f"print({first})"),
                *(f"for {part} in {flow}:", f"    write({part})", f"print({flow}.text)"),
            ],
            [f"for {part} in {given}({item}):", f"    write({part})"],
            [f"for {part}: [string] in stream $ drafts {{{item}}} $:", f"    print({part})"],
        )
        for way in dice.sample(ways, dice.randint(1, 3)):
            for line in way:
                self.line(1, line)
            flow = self.new("w")
        if dice.random() < 0.5:
            self.line(1, f"print({item})")

    def passing(self, names: _Names) -> None:
        """A loop with changed copies of records, and with functions that are values."""
        dice, item, inside = self.values, self.new("v"), names.inside()
        inside.texts = [item, item, *names.texts]
        case, whole, applied = self.new("Case"), self.new("f"), self.new("f")
        made, found, steps, step = (self.new(letter) for letter in ("c", "xs", "fs", "g"))
        self.line(0, f"type {case}(text: string, note: string, act: (string) -> string):")
        self.line(1, f'assert note != "{dice.choice(("w1", "w9", "w9", "y"))}", "no such note"')
        self.line(0, f"f {whole}(value: any) -> any:\n    ret value")
        self.line(0, f"f {applied}(change: (string) -> string, a: string) -> string:")
        self.line(1, dice.choice(("ret change(a)", "ret change(a) + change(a)")))
        functions = [*self.functions, *self.tools[:1], "upper", "strip"]

        def function() -> str:
            chosen = dice.choice(functions)
            return dice.choice((chosen, chosen, f"{whole}({chosen})"))

        record = f'{case}({{}}, "n", {function()})'
        self.line(0, f"{found}: [string] = []")
        self.line(0, f"{steps}: [(string) -> string] = [{function()}, {function()}]")
        self.line(0, f"{made} = {record.format(self.text(names))}")
        self.line(0, f"for {item} in {self.items(names)}:")
        asked = self.prompt(inside).removeprefix("stream ")
        ways = (
            f"{made} = {{...{made}, note: {asked}}}",
            f"{made} = {{...{made}, text: {self.text(inside)}, act: {function()}}}",
            f"print({{...{made}, note: {item}}}.note, {made}.text)",
            f"print({{...{whole}({made}), note: {self.text(inside)}}}.note)",
            f"print({{...{whole}({{text: {item}}}), note: {asked}}}.note)",
            f"{found} += [{applied}({function()}, {self.text(inside)})]",
            f"{found} += [{made}.act({item})]",
            f"print({applied}({made}.act, {asked}))",
            f"for {step} in {steps}:\n        print({step}({item}))",
            f"print([{step}({item}) for {step} in {steps}])",
            f"print({asked})",
        )
        for way in dice.sample(ways, dice.randint(2, 4)):
            self.line(1, way)
        self.line(0, f"print({found}, {made}.note)")
        self.line(0, f"print([{applied}({function()}, {item}) for {item} in xs0])")

    def sums(self, names: _Names) -> None:
        """A loop that adds numbers which depend on the order of adding, and texts and maps that
        grow at the wrong end.
        """
        item, inside = self.new("v"), names.inside()
        inside.texts = [item, item, *names.texts]
        rate, text, counts = (self.new(letter) for letter in "nsm")
        self.line(0, f'{rate} = 0.1\n{text} = ""\n{counts}: {{[string]: string}} = {{}}')
        self.line(0, f"for {item} in {self.items(names)}:")
        ways = [f"{rate} += 0.7", f"{rate} += 0.1 * len({item})", f"{text} = {item} + {text}"]
        ways += [f"{counts} = {{[{item}]: {self.text(inside)}, ...{counts}}}"]
        ways += [f"{text} += {item}", f"{counts} = {{...{counts}, [{item}]: {self.text(inside)}}}"]
        for way in self.heads.sample(ways, 2):
            self.line(1, way)
        self.line(1, f"print({self.prompt(inside).removeprefix('stream ')})")
        self.line(0, f"print({rate}, {text}, {counts})")

    def check(
        self, depth: int, kept: list[str], item: str, names: _Names, *, is_inside: bool
    ) -> None:
        """A statement of a head, which may stop the script, leave out an item or end the loop."""
        count, seen, rows, found = kept
        dice, text = self.heads, self.new("s")
        word = dice.choice(("w1", "x", "y", "z", "w9", "w9"))
        indent = "\n" + "    " * (depth + 1)
        others = names.lists[0] if names.lists else "[a]"
        ret, added = f'if {item} == "{word}":{indent}ret "{word}"', f"{count} += len({item})"
        ways = (
            f'assert {item} != "{word}", "no {word}"',
            f'if {item} == "{word}":{indent}continue',
            f'if {item} == "{word}":{indent}break',
            f'if {item} == "{word}":{indent}fail "bad {word}"',
            f'if {item} == "{word}":{indent}{count} += 1{indent}continue',
            f"if contains({seen}, {item}):{indent}continue\n{'    ' * depth}{seen} += [{item}]",
            f"{text} = {rows}[{item}]",
            f'{text} = read_text("{dice.choice(FILES)}")',
            f"{text} = {item} + str({count})",
            f"{count} += len({found})",
            f"print({item})",
            ret if is_inside else added,
            f"for {text}i in {others}:{indent}assert {text}i != {item}",
        )
        way = dice.choice(ways)
        self.line(depth, way)
        if way.startswith(f"{text} ="):
            names.texts += [text, text]

    def assign(self, depth: int, kept: list[str], letter: str, value: str, kind: str = "") -> None:
        """Assigns a new name, or one that is there."""
        is_old = kept and self.odds(0.3)
        name = self.random.choice(kept) if is_old else self.new(letter)
        self.line(depth, f"{name}{kind} = {value}")
        if not is_old:
            kept.append(name)

    def statement(self, depth: int, names: _Names, *, in_loop: bool) -> None:
        kind = self.random.random()
        if kind < 0.22:
            self.assign(depth, names.texts, "s", self.asking(names))
        elif kind < 0.25:
            asked = self.prompt(names).removeprefix("stream ")
            self.assign(depth, names.numbers, "n", asked, ": int")
        elif kind < 0.28:
            text, number = self.new("s"), self.new("n")
            asked = self.prompt(names).removeprefix("stream ")
            self.line(depth, f"{{{text}: string, {number}: int}} = {asked}")
            names.texts.append(text)
            names.numbers.append(number)
        elif kind < 0.29:
            self.unset(depth, names)
        elif kind < 0.36:
            self.line(depth, f"print({self.text(names)}, {self.number(names)})")
        elif kind < 0.42:
            self.assign(depth, names.numbers, "n", f"{self.number(names)} + {self.number(names)}")
        elif kind < 0.53 and names.lists:
            name = self.random.choice(names.lists)
            value = self.asking(names) if self.odds(0.5) else self.text(names)
            added = self.one(f"= {name} + [{value}]", f"+= [{value}]", f"= [...{name}, {value}]")
            self.line(depth, f"{name} {added}")
        elif kind < 0.56:
            self.line(depth, f'write_text("{self.one(*FILES)}", {self.text(names)})')
        elif kind < 0.61:
            path = self.one(*FILES, *(("none.txt",) if self.odds(0.1) else ()))
            self.assign(depth, names.texts, "s", f'read_text("{path}")')
        elif kind < 0.64 and names.lists:
            position = self.number(names) if self.odds(0.3) else self.one("0", "1")
            name = self.random.choice(names.lists)
            self.assign(depth, names.texts, "s", f"{name}[{position}]")
        elif kind < 0.66:
            self.line(depth, f"assert {self.condition(names)} or {self.condition(names)}")
        elif kind < 0.72:
            self.comprehension(depth, names)
        elif kind < 0.79:
            self.branch(depth, names, in_loop=in_loop)
        elif kind < 0.84 and depth < 3:
            self.attempt(depth, names, in_loop=in_loop)
        elif kind < 0.92 and depth < 3:
            self.loop(depth, names)
        else:
            for _ in range(2):
                self.assign(depth, names.texts, "s", self.asking(names))

    def comprehension(self, depth: int, names: _Names) -> None:
        if self.odds(0.2):
            self.assign(depth, names.texts, "s", f'join({self.asked(names)}, "-")')
            return
        value = self.asked(names)
        if self.odds(0.15):
            item, inside = self.new("v"), names.inside()
            inside.texts.append(item)
            value = f"[{self.text(inside)} for {item} in {value}]"
        self.assign(depth, names.lists, "xs", value)

    def branch(self, depth: int, names: _Names, *, in_loop: bool) -> None:
        condition = self.condition(names)
        if self.odds(0.3):
            condition = f'{self.asking(names)} {self.one("==", "!=")} "w{self.one("1", "2")}"'
        self.line(depth, f"if {condition}:")
        if self.odds(0.3):
            ways = ("continue", "continue", "break") if in_loop else ()
            ended = self.one(*ways, f"fail {self.text(names)}")
            if self.in_function and self.others.random() < 0.5:
                ended = f"ret {self.text(names)}"
            self.line(depth + 1, ended)
            return
        self.block(depth + 1, names.inside(), in_loop=in_loop, most=2)
        if self.odds(0.4):
            self.line(depth, "else:")
            self.block(depth + 1, names.inside(), in_loop=in_loop, most=2)

    def unset(self, depth: int, names: _Names) -> None:
        """The second of two prompts reads a name that may have no value."""
        name, first, second = (self.new("s") for _ in range(3))
        self.line(depth, f"if {self.condition(names)}:")
        self.line(depth + 1, f"{name} = {self.text(names)}")
        self.line(depth, f"{first} = {self.prompt(names)}")
        self.line(depth, f"{second} = $ again {{{name}}} $")
        names.texts += [first, second]

    def attempt(self, depth: int, names: _Names, *, in_loop: bool) -> None:
        if self.odds(0.2):
            # What was assigned last is read when it has failed.
            name, item = self.new("s"), self.new("v")
            self.line(depth, f'{name} = "early"')
            self.line(depth, "try:")
            self.line(depth + 1, f"for {item} in {self.items(names)}:")
            self.line(depth + 2, f"{name} = {item}")
            if self.odds(0.7):
                self.line(depth + 2, f"print($ {{{name}}} $)")
            self.line(depth, "except:")
            self.line(depth + 1, f"print({name})")
            return
        self.line(depth, "try:")
        inside = names.inside()
        self.block(depth + 1, inside, in_loop=in_loop, most=3)
        self.line(depth, "except error:")
        if self.odds(0.2):
            self.line(depth + 1, "fail error")
            return
        if self.odds(0.5):
            self.line(depth + 1, "print(error)")
        if in_loop and self.odds(0.2):
            self.line(depth + 1, "continue")
            return
        # What was there before may have been assigned again when it failed.
        self.block(depth + 1, names.inside(), in_loop=in_loop, most=2)

    def loop(self, depth: int, names: _Names) -> None:
        item, inside = self.new("v"), names.inside()
        if self.odds(0.1):
            # What is asked for is only gone over; what the loop assigns may be what it is about.
            name = self.new("s")
            self.line(depth, f'{name} = "early"')
            names.texts.append(name)
            about = f"[$ {{{item}}} {{{name}}} $ for {item} in {self.items(names)}]"
            self.line(depth, f"for {item} in {self.one(about, self.asked(names))}:")
            self.line(depth + 1, self.one(f'{name} = {item} + "k"', f"print({item})"))
            return
        if self.odds(0.2):
            number = self.new("n")
            pairs = self.one(f"enumerate({self.items(names)})", '[(1, "x"), (2, "y"), (3, "x")]')
            self.line(depth, f"for {number}, {item} in {pairs}:")
            inside.numbers.append(number)
        else:
            self.line(depth, f"for {item} in {self.items(names)}:")
        if self.shared and self.odds(0.1):
            # What a function reads, the item before has assigned.
            self.line(depth + 1, f'shared = {item} + "k"')
            self.line(depth + 1, f"print({self.shared}({item}))")
            return
        if self.odds(0.15):
            # What one item reads, the one before may have written.
            read, written, text = self.one(*FILES), self.one(*FILES), self.new("s")
            self.line(depth + 1, f'{text} = $ {{{item}}} {{read_text("{read}")}} $')
            self.line(depth + 1, f'write_text("{written}", {text} + {item})')
            return
        inside.texts += [item, item]
        before = len(inside.texts)
        self.block(depth + 1, inside, in_loop=True, most=4)
        if self.odds(0.3):
            # What the loop has assigned is read below it, if it has a value.
            late = inside.texts[before:]
            if late:
                name = self.random.choice(late)
                self.lines.insert(self._begin(depth), "    " * depth + f'{name} = "early"')
                names.texts.append(name)

    def _begin(self, depth: int) -> int:
        """The line of the loop of this depth that was written last."""
        head = "    " * depth + "for "
        return max(i for i, line in enumerate(self.lines) if line.startswith(head))

    def block(self, depth: int, names: _Names, *, in_loop: bool, most: int) -> None:
        for _ in range(self.random.randint(1, most)):
            self.statement(depth, names, in_loop=in_loop)

    # The whole

    def function(self, outer: _Names) -> None:
        name = self.new("f")
        self.line(0, f"f {name}(a: string) -> string:")
        names = _Names(["a", "a", *outer.texts], [*outer.numbers], [*outer.lists])
        self.in_function = True
        if outer.lists == ["xs1000"] and self.others.random() < 0.3:
            self.line(1, 'assert a != "x"')
        if self.others.random() < 0.1:
            # A loop in a loop, which both end.
            item, other = self.new("v"), self.new("v")
            self.line(1, f"for {item} in {outer.lists[0] if outer.lists else '[a, a]'}:")
            self.line(2, f'for {other} in ["w1", "y", {item}]:')
            self.line(3, f"if {other} == a:")
            self.line(4, f"ret {other}")
            self.line(2, f"print($ {{{item}}} {{a}} $)")
        for _ in range(self.random.randint(0, 2)):
            self.statement(1, names, in_loop=False)
        self.in_function = False
        self.line(1, f"ret {self.asking(names) if self.odds(0.8) else self.text(names)}")
        self.functions.append(name)

    def ring(self) -> None:
        """Two functions that call each other, and loops over both."""
        first, second = self.new("f"), self.new("f")
        end = self.others.choice(("w1", "w2", "w0"))
        self.line(0, f"f {first}(a: string, n: int) -> string:")
        self.line(1, "told = $ first {a} {n} $")
        self.line(1, f'assert told != "{end}"')
        self.line(1, f"if n > 1:\n        ret {second}(a, n - 1)")
        self.line(1, "ret told")
        self.line(0, f"f {second}(a: string, n: int) -> string:")
        self.line(1, f"if n > 0:\n        ret {first}(a, n)")
        self.line(1, "ret $ second {a} $")
        for function, items in ((first, '["a"]'), (second, '["b", "c", "d", "e", "g"]')):
            item = self.new("v")
            self.line(0, f"for {item} in {items}:")
            self.line(1, f"print({function}({item}, 1))")

    def classes(self, names: _Names) -> None:
        """Loops, comprehensions and prompts side by side with values of classes of Python."""
        item, made, told = (self.new("v") for _ in range(3))
        text = self.others.choice(_BY_CLASSES).format(item)
        kind = self.others.randrange(6)
        if kind == 0:
            self.line(0, f"for {item} in xs0:")
            self.line(1, f"{made} = {self.prompt(names).removeprefix('stream ')}")
            self.line(1, f"print($ {{{text}}} {{{made}}} $)")
        elif kind == 1:
            self.line(0, f'{made} = [{self.prompt(names)} for {item} in xs0 if {text} != "x"]')
        elif kind == 2:
            other = self.others.choice(_BY_CLASSES).format(f"{self.text(names)}")
            self.line(0, f"{made} = $ a {{xs0}} $\n{told} = $ b {{{other}}} $")
        elif kind == 3:
            asked = self.others.choice(("Parcel", "Amount", "Tagged", "Plain"))
            self.line(0, f"for {item} in xs0:")
            self.line(1, f"{made}: {asked} = $ {{{item}}} {self.count} $")
            self.line(1, f"print({made}.text)")
        elif kind == 4:
            self.line(0, f"{made} = Rated({self.text(names)})")
            self.line(0, f'{told} = Rated("w1")')
            self.line(0, f"for {item} in xs0:")
            self.line(1, f"print($ {{{item}}} $)")
            self.line(1, f"print($ {{{item}}} {{str({made} == {told})}} $)")
        else:
            self.line(0, f'{made} = Parcel("w1")')
            self.line(0, f"for {item} in xs0:")
            self.line(1, f"print($ {{{item}}} {{{made}.label}} $)")
            self.line(1, f"print($ {{{item}}} {{{made}.text}} $)")

    def tool(self) -> None:
        name = self.new("tool")
        self.line(0, f"f {name}(a: string) -> string:")
        self.line(0, "    /// a tool")
        if self.odds(0.5):
            self.line(1, f'print("{name}", a)')
        if self.functions and self.odds(0.4):
            self.line(1, f"ret {self.random.choice(self.functions)}(a)")
        else:
            self.line(1, self.one('ret a + "t"', f'ret read_text("{self.one(*FILES)}")'))
        self.tools.append(name)

    def helpers(self) -> str:
        """Another script, whose functions this one has."""
        other = _Writer(self.random.randrange(1_000_000), 1000)
        names = _Names([], [], [])
        other.assign(0, names.texts, "s", '"other"')
        other.assign(0, names.numbers, "n", "2")
        other.line(0, 'xs1000: [string] = ["w2", "z"]')
        names.lists.append("xs1000")
        for _ in range(self.random.randint(1, 2)):
            other.function(names)
        if self.odds(0.3):
            other.tool()
        if self.odds(0.3):
            other.line(0, 'print("helpers")')
        imported = [*other.functions, *other.tools]
        if self.odds(0.3):
            self.line(0, "import helpers")
            self.functions += [f"helpers.{name}" for name in other.functions]
        else:
            self.line(0, f"from helpers import {', '.join(imported)}")
            self.functions += other.functions
            self.tools += other.tools
        return "\n".join(other.lines) + "\n"

    def script(self) -> Script:
        names = _Names([], [], [])
        helpers = self.helpers() if self.odds(0.3) else None
        if self.odds(0.2):
            self.line(0, "from tests.overlap.noisy import shout")
            self.tools.append("shout")
        self.has_classes = self.others.random() < 0.3
        if self.has_classes:
            self.line(0, f"from tests.overlap.noisy import {', '.join(CLASSES)}")
        for path in FILES:
            self.line(0, f'write_text("{path}", "{path[0]}")')
        self.assign(0, names.texts, "s", '"first"')
        self.assign(0, names.numbers, "n", "1")
        self.line(0, 'xs0: [string] = ["w1", "x", "y"]')
        names.lists.append("xs0")
        if self.odds(0.2):
            self.line(0, 'shared = "early"')
            self.line(0, "f share(a: string) -> string:")
            self.line(1, "ret $ {a} and {shared} $")
            self.shared = "share"
        for _ in range(self.random.randint(0, 2)):
            self.function(names)
        if self.odds(0.4):
            self.tool()
        for _ in range(self.random.randint(2, 6)):
            self.statement(0, names, in_loop=False)
            if self.odds(0.3):
                self.loop(0, names)
            if self.has_classes and self.others.random() < 0.4:
                self.classes(names)
        if self.others.random() < 0.15:
            self.ring()
        if helpers is not None and self.functions and self.others.random() < 0.3:
            item = self.new("v")
            self.line(0, f"for {item} in xs0:")
            self.line(1, f"print({self.functions[0]}({item}))")
        if self.others.random() < 0.1:
            item = self.new("v")
            asked = self.others.choice((*self.functions, "print"))
            condition = f'contains(read_text({item}), "{self.others.choice("abw")}")'
            paths = '["a.txt", "none.txt", "c.txt"]'
            kept = f"[{asked}($ about {{{item}}} $) for {item} in {paths} if {condition}]"
            self.line(0, f"{self.new('xs')} = {kept}")
        if self.others.random() < 0.1:
            # A prompt that may fail, or prints by a tool, and one that reads.
            self.line(0, f"{self.new('s')} = {self.prompt(names).removeprefix('stream ')}")
            self.line(0, f"{self.new('s')} = $ later {{{self.reading()}}} $")
        # Last, and of dice of their own, so that what else is written stays what it was.
        before, self.random = self.random, self.forms
        for _ in range(self.forms.choice((0, 0, 1, 2))):
            self.natural(names)
        self.random = self.heads
        for _ in range(self.heads.choice((0, 0, 1, 1))):
            self.checked(names)
        if self.heads.random() < 0.2:
            self.sums(names)
        self.random = self.talks
        for _ in range(self.talks.choice((0, 0, 1))):
            self.talking(names)
        self.random = self.values
        if self.values.random() < 0.3:
            self.passing(names)
        self.random = before
        for name in (*dict.fromkeys(names.texts), *dict.fromkeys(names.lists)):
            if self.odds(0.5):
                self.line(0, f"print({name})")
        for path in FILES:
            self.line(0, f'print(read_text("{path}"))')
        return Script("\n".join(self.lines) + "\n", helpers)


def script(seed: int) -> Script:
    """A script, the same for the same seed."""
    return _Writer(seed).script()


def counting_script(seed: int) -> Script:
    """A script whose loop counts in objects, inside and outside of `try`, and may do it wrongly."""
    dice = Random(seed)
    keys = ("case", "answer", 'f"{case} as {answer}"', '"all"', "upper(case)")
    made = ("{}", '{["w1"]: 3, ["all"]: 1}')

    def count(name: str) -> str:
        key = dice.choice(keys)
        other = key if dice.random() < 0.9 else dice.choice(keys)
        number = dice.choice(("1", "len(answer)", "len(case)"))
        sides = [f"get({name}, {other}, 0)", number]
        dice.shuffle(sides)
        more = f', ["more"]: get({name}, "more", 0) + 1' if dice.random() < 0.2 else ""
        wrong = f"{name} = {{...{name}, [{key}]: {number}}}"
        right = f"{name} = {{...{name}, [{key}]: {' + '.join(sides)}{more}}}"
        return wrong if dice.random() < 0.1 else right

    lines = [f"{name}: {{[string]: int}} = {dice.choice(made)}" for name in ("n", "m")]
    lines += ["failed = 0", 'cases = ["w1", "x", "y", "w1", "z", "w2"]', "for case in cases:"]
    depth = "    "
    is_inside = dice.random() < 0.8
    if is_inside:
        lines.append("    try:")
        depth = "        "
    lines.append(f"{depth}answer = $ Sort {{case}} $")
    for _ in range(dice.randint(1, 3)):
        name = dice.choice(("n", "m"))
        if dice.random() < 0.3:
            lines.append(f'{depth}if starts_with(answer, "{dice.choice("abcw")}") or case == "x":')
            lines.append(f"{depth}    {count(name)}")
        else:
            lines.append(depth + count(name))
    if dice.random() < 0.1:
        lines.append(f"{depth}print(n)")
    if is_inside:
        lines += ["    except error:", "        failed += 1"]
        if dice.random() < 0.5:
            lines.append('        m = {...m, ["failed"]: get(m, "failed", 0) + 1}')
    lines.append("print(n, m, failed)")
    return Script("\n".join(lines) + "\n", None)
