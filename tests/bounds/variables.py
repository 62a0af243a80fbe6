"""Random scripts whose variables are set, grown and cut in all ways, and then gone over."""

from __future__ import annotations

from random import Random

_SLICES = ("1:", ":2", ":-1", "k:", ":m", ":n", "1:3")
_NUMBERS = (
    *("0", "1", "2", "3", "n", "k", "m", "k + 1", "m - 1", "n + 1", "k + m", "len(a)", "len(b)"),
    *("len(xs)", "min(k, 3)", "(1 if n > 0 else 4)", "-1", "n - 1"),
)


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.lines: list[str] = []

    def one(self, *ways: str) -> str:
        return self.random.choice(ways)

    def line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def name(self) -> str:
        return self.one("a", "b", "a", "b", "xs")

    def items(self) -> str:
        name, other = self.name(), self.name()
        return self.one(
            *(name, '["s"]', '["s", "t"]', f"{name}[{self.one(*_SLICES)}]", f"sorted({name})"),
            *(f'[...{name}, "u"]', f"{name} + {other}", f"[y for y in {name}]"),
            f"({name} if n > 1 else {other})",
        )

    def number(self) -> str:
        return self.one(*_NUMBERS)

    def over(self) -> str:
        number, first = self.number(), self.one("1", "k", "n")
        return self.one(self.items(), self.items(), f"range({number})", f"range({first}, {number})")

    def asking(self, depth: int) -> None:
        self.line(depth, f"for w in {self.over()}:")
        self.line(depth + 1, "print($ [r1 R2 C2] {w} $)")

    def change(self, depth: int) -> None:
        name, number = self.name(), self.one("k", "m", "n")
        text = self.one(
            *(f"{name} += {self.items()}", f'{name} = [...{name}, "z"]', f"{name} = {name}[1:]"),
            *(f"{name} = {self.items()}", f"{number} = {self.number()}", f"{number} -= 1"),
            f"{number} += {self.one('1', '2', 'm')}",
        )
        self.line(depth, text)

    def while_loop(self, depth: int) -> None:
        number, name = self.one("k", "m"), self.one("a", "b")
        if self.random.random() < 0.7:
            self.line(depth, f"{number} = {self.number()}")
        rising, falling = f"{number} < {self.number()}", f"{number} >= {self.one('0', '1', '-1')}"
        shorter, longer = self.one(f"{name} != []", f"len({name}) > 0"), f"len({name}) < {number}"
        test, step = self.random.choice(
            (
                (rising, f"{number} += {self.one('1', '2')}"),
                (falling, f"{number} -= {self.one('1', '2')}"),
                (shorter, f"{name} = {name}[{self.one('1:', ':-1')}]"),
                (longer, f'{name} += ["q"]'),
            )
        )
        self.line(depth, f"while {test}:")
        is_first = self.random.random() < 0.5
        if is_first:
            self.line(depth + 1, step)
        self.asking(depth + 1)
        self.block(depth + 1)
        if not is_first:
            self.line(depth + 1, step)

    def statement(self, depth: int) -> None:
        kind = self.random.random()
        if kind < 0.5 or depth > 3:
            self.change(depth)
        elif kind < 0.62:
            self.line(depth, f"for v in {self.over()}:")
            self.block(depth + 1)
        elif kind < 0.72:
            self.while_loop(depth)
        elif kind < 0.85:
            self.line(depth, f"if {self.one('n > 1', 'k > 1', 'len(a) > 1')}:")
            self.block(depth + 1)
        elif kind < 0.9:
            self.line(depth, "try:")
            self.block(depth + 1)
            self.line(depth + 1, 'assert n > 1, "no"')
            self.line(depth, "except:")
            self.block(depth + 1)
        else:
            self.asking(depth)

    def block(self, depth: int) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth)

    def script(self) -> str:
        self.line(0, "f begin(xs: [string], n: int):")
        for text in ("a: [string] = []", 'b = ["p"]', "k = 0", "m = 1"):
            self.line(1, text)
        self.block(1)
        self.block(1)
        self.asking(1)
        self.line(1, "ret a")
        return "\n".join(self.lines) + "\n"


def script(seed: int) -> str:
    """A script with a function `begin(xs, n)`."""
    return _Writer(seed).script()
