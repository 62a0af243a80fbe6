"""Random scripts that ask in all ways there are, around a function `begin(xs, n)` that is called.

What a prompt may do stands in its text, as `[r1 R2 C3]`: the server makes the most of it.
"""

from __future__ import annotations

from random import Random
from typing import NamedTuple

# How many items a model makes.
MADE = 3
_THREE = '["a", "b", "c"]'


class _Names(NamedTuple):
    """The variables that have a value, by type."""

    texts: list[str]
    numbers: list[str]
    lists: list[str]

    def inside(self) -> _Names:
        return _Names([*self.texts], [*self.numbers], [*self.lists])


class _Writer:
    """Writes a script; one that is `plain` has no branches, and nothing in it fails."""

    def __init__(self, seed: int, *, plain: bool, turning: bool) -> None:
        self.random = Random(seed)
        self.plain = plain
        self.turning = turning
        self.lines: list[str] = []
        self.count = 0
        self.budget = 0
        # Functions of one text, and of a list and a number, which give a text and a list.
        self.of_text: list[str] = []
        self.of_list: list[str] = []
        self.tools: list[str] = []

    def odds(self, chance: float) -> bool:
        return self.random.random() < chance

    def one(self, *ways: str) -> str:
        return self.random.choice(ways)

    def new(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count}"

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    # Prompts

    def options(self) -> tuple[str, str]:
        """The mark of a prompt, and its options."""
        repairs, rounds, calls = 1, 2, 2
        given: list[str] = []
        if self.odds(0.3):
            repairs = self.random.randint(0, 2)
            given.append(f"max_repairs: {repairs}")
        if self.odds(0.3):
            rounds, calls = self.random.randint(1, 3), self.random.randint(1, 3)
            given += [f"max_tool_rounds: {rounds}", f"max_tool_calls: {calls}"]
        mark = f"[r{repairs} R{rounds} C{calls}]"
        return mark, f" with {{{', '.join(given)}}}" if given else ""

    def prompt(self, names: _Names, word: str = "", *, after: str = "") -> str:
        mark, options = self.options()
        tool = f" {{{self.random.choice(self.tools)}}}" if self.tools and self.odds(0.3) else ""
        self.count += 1
        value = f"{{{self.random.choice(names.texts)}}}"
        if not word:
            is_streamed = not tool and self.odds(0.1)
            word = "do " if self.odds(0.2) else "stream " if is_streamed else ""
        mode = " do" if word == "do " else ""
        behind = f" after {after}" if after else ""
        return f"{word}$ q{self.count} {mark}{mode} {value}{tool} ${options}{behind}"

    # Values

    def items(self, names: _Names) -> str:
        some = ", ".join(f'"{self.one("a", "b")}"' for _ in range(self.random.randint(1, 3)))
        return self.one(
            *names.lists,
            f"[{some}]",
            # A slice may be longer than the list: then the bound is not reached.
            f"{_THREE if self.plain else self.random.choice(names.lists)}[:2]",
            f"sorted({self.random.choice(names.lists)})",
            f"[...{self.random.choice(names.lists)}, {some}]",
        )

    def calling(self, names: _Names) -> str:
        if self.of_text and self.odds(0.5):
            return f"{self.random.choice(self.of_text)}({self.random.choice(names.texts)})"
        if self.of_list and self.odds(0.5):
            return self.of_list_call(names)
        return self.prompt(names)

    def of_list_call(self, names: _Names) -> str:
        number = self.one("1", "2", *names.numbers)
        name, items = self.random.choice(self.of_list), self.items(names)
        return self.one(f"{name}({items}, {number})", f"{name}(m: {number}, ys: {items})")

    def condition(self, names: _Names) -> str:
        text = f'{self.random.choice(names.texts)} == "a"'
        asked = self.prompt(names, " ").strip()
        both = f"{self.one(text, asked)} {self.one('and', 'or')} {asked}"
        return self.one(text, asked, both)

    # Statements

    def block(self, depth: int, names: _Names, *, in_loop: bool, most: int) -> None:
        for _ in range(self.random.randint(1, most)):
            self.statement(depth, names, in_loop=in_loop)

    def statement(self, depth: int, names: _Names, *, in_loop: bool) -> None:
        kind = self.random.random()
        if kind < 0.2:
            text = self.new("s")
            self.line(depth, f"{text} = {self.calling(names)}")
            if self.of_list and self.lines[-1].split(" = ")[1].startswith(tuple(self.of_list)):
                return
            names.texts.append(text)
        elif kind < 0.27:
            made = self.new("ms")
            self.line(depth, f"{made}: [string] = {self.prompt(names).removeprefix('stream ')}")
            names.lists.append(made)
        elif kind < 0.34:
            text, number = self.new("s"), self.new("k")
            optional = "" if self.plain or self.odds(0.7) else "?"
            asked = self.prompt(names).removeprefix("stream ")
            self.line(depth, f"{{{text}: string, {number}: int{optional}}} = {asked}")
            names.texts.append(text)
        elif kind < 0.39:
            first, second = self.new("s"), self.new("s")
            self.line(depth, f"{first} = {self.prompt(names, ' ').strip()}")
            self.line(depth, f"{second} = {self.prompt(names, ' ', after=first).strip()}")
            names.texts.extend((first, second))
        elif kind < 0.43 and not self.plain:
            self.line(depth, f"print({self.program(names)})")
        elif kind < 0.5:
            self.growing(depth, names)
        elif kind < 0.58:
            item, inside = self.new("v"), names.inside()
            inside.texts[:] = [item]
            lists = self.new("ys")
            asked = self.calling(inside)
            if self.of_list and asked.startswith(tuple(self.of_list)):
                asked = self.prompt(inside)
            condition = ""
            if not self.plain and self.odds(0.4):
                condition = f" if {self.condition(inside)}"
            asked = asked.removeprefix("stream ")
            self.line(depth, f"{lists} = [{asked} for {item} in {self.items(names)}{condition}]")
            names.lists.append(lists)
        elif kind < 0.71 and depth < 3:
            self.loop(depth, names)
        elif kind < 0.76 and depth < 3:
            self.while_loop(depth, names)
        elif self.plain or depth > 3:
            self.line(depth, f"print({self.prompt(names)})")
        elif kind < 0.86:
            self.branch(depth, names, in_loop=in_loop)
        elif kind < 0.92:
            self.line(depth, "try:")
            self.block(depth + 1, names.inside(), in_loop=in_loop, most=2)
            if self.odds(0.5):
                self.line(depth + 1, 'fail "x"')
            self.line(depth, "except:")
            self.block(depth + 1, names.inside(), in_loop=in_loop, most=2)
        elif kind < 0.96:
            ways = [self.prompt(names, " ").strip() for _ in range(2)]
            test = f'{self.random.choice(names.texts)} == "a"'
            self.line(depth, f"print({ways[0]} if {test} else {ways[1]})")
        else:
            text = self.random.choice(names.texts)
            self.line(depth, f'write_text("f.txt", {text})')
            self.line(depth, 'print($ q [r1 R2 C2] {read_text("f.txt")} $)')

    def growing(self, depth: int, names: _Names) -> None:
        """A list that a loop adds to, and that is gone over."""
        out, item, other = self.new("out"), self.new("v"), self.new("v")
        self.line(depth, f"{out} = []")
        self.line(depth, f"for {item} in {self.items(names)}:")
        added = self.one(f"+= [{item}]", f"= {out} + [{item}]", f"= [...{out}, {item}, {item}]")
        self.line(depth + 1, f"{out} {added}")
        self.line(depth, f"for {other} in {out}:")
        self.line(depth + 1, f"print({self.prompt(_Names([other], [], []))})")
        names.lists.append(out)

    def loop(self, depth: int, names: _Names) -> None:
        item, inside = self.new("v"), names.inside()
        number = self.one("2", *names.numbers)
        kind = self.random.random()
        if kind < 0.25:
            least = number if self.plain else f"min({number}, 2)"
            last = self.one(number, f"{number} + 1", least)
            over = self.one(f"range({last})", f"range(1, {number} + 1)")
            self.line(depth, f"for {item} in {over}:")
        elif kind < 0.4:
            self.line(depth, f"for {self.new('k')}, {item} in enumerate({self.items(names)}):")
            inside.texts.append(item)
        else:
            self.line(depth, f"for {item} in {self.items(names)}:")
            inside.texts.append(item)
        self.block(depth + 1, inside, in_loop=True, most=2)

    def while_loop(self, depth: int, names: _Names) -> None:
        """A loop with a counter, or with a list that becomes shorter or longer in each turn."""
        inside, kind = names.inside(), self.random.random()
        turning = self.new("k" if kind < 0.6 else "q")
        texts, lists = names.texts, names.lists
        one_of_two = f'(1 if {self.random.choice(texts)} == "a" else 4)'
        if kind < 0.4:
            starts = ["0"] if self.plain else ["0", "-1", one_of_two, f"len({lists[0]})"]
            ends = ["2", "3", *names.numbers, *([] if self.plain else [f"7 - {one_of_two}"])]
            self.line(depth, f"{turning} = {self.one(*starts)}")
            test = f"{turning} < {self.one(*ends)}"
            steps = [f"{turning} += 1", *([] if self.plain else [f"{turning} += 2"])]
        elif kind < 0.6:
            start = self.one("2", "3", *names.numbers)
            self.line(depth, f"{turning} = {start}")
            test = f"{turning} > 0" if self.plain else self.one(f"{turning} >= 0", f"1 < {turning}")
            steps = [f"{turning} -= 1"] if self.plain else [f"{turning} = {turning} - 3"]
        elif kind < 0.85:
            self.line(depth, f"{turning} = {_THREE if self.plain else self.items(names)}")
            test = self.one(f"len({turning}) > 0", f"{turning} != []")
            steps = [f"{turning} = {turning}[{one}]" for one in ("1:", ":-1")]
        else:
            self.line(depth, f"{turning}: [string] = []")
            test = f"len({turning}) < {self.one('2', '3', *names.numbers)}"
            steps = [f'{turning} += ["a"]', f'{turning} = ["b"] + {turning}']
        if not self.plain and self.odds(0.3):
            asked = self.prompt(names, " ").strip()
            test = self.one(f"{test} and {asked}", f"{asked} and {test}")
        self.line(depth, f"while {test}:")
        step = self.one(*steps)
        if self.plain or self.odds(0.5):
            self.block(depth + 1, inside, in_loop=False, most=2)
            self.line(depth + 1, step)
        elif self.odds(0.5):
            self.line(depth + 1, step)
            self.block(depth + 1, inside, in_loop=True, most=2)
        else:
            self.line(depth + 1, f"if {self.condition(names)}:")
            self.line(depth + 2, step)
            self.line(depth + 1, "else:")
            self.block(depth + 2, inside, in_loop=False, most=1)
            self.line(depth + 2, self.one(step, step, "break", "ret []"))

    def branch(self, depth: int, names: _Names, *, in_loop: bool) -> None:
        self.line(depth, f"if {self.condition(names)}:")
        ways = ("break", "continue") if in_loop else ()
        if self.odds(0.25):
            self.line(depth + 1, self.one(*ways, "ret []"))
        else:
            self.block(depth + 1, names.inside(), in_loop=in_loop, most=2)
        if self.odds(0.3):
            self.line(depth, f"elif {self.condition(names)}:")
            self.block(depth + 1, names.inside(), in_loop=in_loop, most=1)
        if self.odds(0.4):
            self.line(depth, "else:")
            self.block(depth + 1, names.inside(), in_loop=in_loop, most=2)

    def program(self, names: _Names) -> str:
        rounds, calls = self.random.randint(1, 2), self.random.randint(1, 3)
        tool = self.random.choice(self.tools)
        options = f"with {{max_tool_rounds: {rounds}, max_tool_calls: {calls}}}"
        value = self.random.choice(names.texts)
        return f"program $ q [r1 R{rounds} C{calls}] {{{value}}} {{{tool}}} $ {options}"

    # The whole

    def script(self) -> str:
        self.line(0, "f tool_1a(a: string) -> string:")
        self.line(1, 'ret "known"')
        self.line(0, "f tool_2a(a: string) -> string:")
        self.line(1, f"ret {self.prompt(_Names(['a'], [], []), ' ').strip()}")
        self.tools = ["tool_1a", "tool_2a"]
        for _ in range(self.random.randint(0, 2)):
            name = self.new("f")
            self.line(0, f"f {name}(a: string) -> string:")
            names = _Names(["a"], [], ['["a", "b"]'])
            if self.odds(0.5):
                item = self.new("v")
                self.line(1, f"for {item} in {self.items(names)}:")
                self.line(2, f"print({self.prompt(_Names([item], [], []))})")
            self.line(1, f"ret {self.prompt(names, ' ').strip()}")
            self.of_text.append(name)
        for _ in range(self.random.randint(0, 2)):
            name = self.new("g")
            self.line(0, f"f {name}(ys: [string], m: int):")
            names = _Names(['"a"'], ["m"], ["ys"])
            self.block(1, names, in_loop=False, most=3)
            self.line(1, f"ret {self.one(*names.lists)}")
            self.of_list.append(name)
        self.line(0, "f begin(xs: [string], n: int):")
        names = _Names(['"a"'], ["n"], ["xs"])
        if self.turning:
            self.while_loop(1, names)
        else:
            self.block(1, names, in_loop=False, most=5)
        self.line(1, "ret xs")
        return "\n".join(self.lines) + "\n"


def script(seed: int, *, plain: bool, turning: bool = False) -> str:
    """A script; one that is `plain` has no branches, and asks as much as it may; one that is
    `turning` is a `while`.
    """
    return _Writer(seed, plain=plain, turning=turning).script()
