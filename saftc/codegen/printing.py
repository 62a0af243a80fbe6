"""Python's tree as text: each statement on one line, as black writes what fits on its line.

    BinOp(BinOp(one, Add(), two), Mult(), three)        (one + two) * three

`ast.unparse` does not do: it has quotes, slices and tuples of its own, and no comments. `_LEVELS`
is the one table of how tightly Python's operators bind: an operand that binds less tightly than its
place needs is put in parentheses.

A `Breaks` table has the listings (calls, lists, tuples, dicts and the parameters of functions) that
get one item a line: for each, what stands behind the opening bracket and behind the comma of every
item, a line break with comments, or nothing. The comma after the last item makes black keep them.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from saftc.codegen.python import BINARY, COMPARISONS, LOGICAL, Written

Breaks: TypeAlias = Mapping[ast.AST, Sequence[str]]

INDENT = "    "

# From the loosest to the tightest; what is not listed is an atom or a postfix expression.
_ANY, _CONDITIONAL, _OR, _AND, _NOT, _COMPARISON = range(6)
_BIT_OR, _SUM, _PRODUCT, _SIGN, _AWAIT, _POSTFIX = range(6, 12)
_LEVELS: dict[type[ast.AST], int] = {
    ast.Lambda: _CONDITIONAL,
    ast.IfExp: _CONDITIONAL,
    ast.Or: _OR,
    ast.And: _AND,
    ast.Not: _NOT,
    ast.Compare: _COMPARISON,
    ast.BitOr: _BIT_OR,
    ast.Add: _SUM,
    ast.Sub: _SUM,
    ast.Mult: _PRODUCT,
    ast.Div: _PRODUCT,
    ast.Mod: _PRODUCT,
    ast.USub: _SIGN,
    ast.Await: _AWAIT,
}
_SYMBOLS: dict[type[ast.AST], str] = {
    kind: symbol for symbol, kind in (*BINARY.items(), *COMPARISONS.items(), *LOGICAL.items())
}
# What black puts spaces around the colon of a slice for.
_COMPLEX = (
    *(ast.Attribute, ast.Await, ast.BinOp, ast.BoolOp, ast.Call, ast.Compare, ast.IfExp),
    *(ast.Lambda, ast.Not, ast.Starred, ast.Subscript),
)


class Printer:
    """Writes expressions, statements and the heads of blocks."""

    def __init__(self, breaks: Breaks | None = None) -> None:
        self.breaks: Breaks = {} if breaks is None else breaks

    # Expressions

    def expression(self, node: ast.expr, level: int = _ANY) -> str:
        """An expression, in parentheses when it binds less tightly than `level`."""
        text = self._expression(node)
        return f"({text})" if _level(node) < level else text

    def _expression(self, node: ast.expr) -> str:
        match node:
            case ast.Name():
                return node.id
            case Written():
                return node.source
            case ast.Constant():
                return _literal(node.value)
            case ast.Call():
                return self.expression(node.func, _POSTFIX) + self._arguments(node)
            case ast.Attribute():
                # `1.real` would be a number with a word behind it.
                is_number = isinstance(node.value, ast.Constant) and _is_number(node.value.value)
                value = self.expression(node.value, _POSTFIX)
                return f"({value}).{node.attr}" if is_number else f"{value}.{node.attr}"
            case ast.Subscript():
                return f"{self.expression(node.value, _POSTFIX)}[{self._key(node.slice)}]"
            case ast.BinOp():
                level = _LEVELS[type(node.op)]
                left = self.expression(node.left, level)
                right = self.expression(node.right, level + 1)
                return f"{left} {_SYMBOLS[type(node.op)]} {right}"
            case ast.Compare():
                # A comparison as an operand is in parentheses: without, it would be a chain.
                [operator], [other] = node.ops, node.comparators
                left = self.expression(node.left, _COMPARISON + 1)
                right = self.expression(other, _COMPARISON + 1)
                return f"{left} {_SYMBOLS[type(operator)]} {right}"
            case ast.BoolOp():
                level = _LEVELS[type(node.op)] + 1
                operands = [self.expression(value, level) for value in node.values]
                return f" {_SYMBOLS[type(node.op)]} ".join(operands)
            case ast.UnaryOp(op=ast.Not()):
                return f"not {self.expression(node.operand, _NOT)}"
            case ast.UnaryOp(op=ast.USub()):
                # `--x` reads like a decrement.
                return f"-{self.expression(node.operand, _SIGN + 1)}"
            case ast.IfExp():
                then = self.expression(node.body, _OR)
                test = self.expression(node.test, _OR)
                return f"{then} if {test} else {self.expression(node.orelse)}"
            case ast.List():
                return self._listing(node, "[", self._each(node.elts), "]")
            case ast.Tuple():
                items = self._each(node.elts)
                if len(items) == 1 and node not in self.breaks:
                    return f"({items[0]},)"
                return self._listing(node, "(", items, ")")
            case ast.Dict():
                return self._listing(node, "{", list(self._entries(node)), "}")
            case ast.ListComp():
                return f"[{self.expression(node.elt)}{self._clauses(node.generators)}]"
            case ast.GeneratorExp():
                return f"({self.expression(node.elt)}{self._clauses(node.generators)})"
            case ast.Starred():
                return f"*{self.expression(node.value, _BIT_OR)}"
            case ast.Lambda():
                return f"lambda: {self.expression(node.body)}"
            case ast.Await():
                return f"await {self.expression(node.value, _POSTFIX)}"
            case _:
                raise AssertionError(f"{type(node).__name__} is never emitted")

    def _each(self, nodes: Sequence[ast.expr]) -> list[str]:
        return [self.expression(node) for node in nodes]

    def _listing(self, node: ast.AST, opening: str, items: Sequence[str], closing: str) -> str:
        breaks = self.breaks.get(node)
        if breaks is None:
            return opening + ", ".join(items) + closing
        inside = "".join(f"{item},{end}" for item, end in zip(items, breaks[1:], strict=True))
        return opening + breaks[0] + inside + closing

    def _arguments(self, node: ast.Call) -> str:
        if len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp) and not node.keywords:
            return self.expression(node.args[0])
        items = self._each(node.args)
        items += [f"{keyword.arg}={self.expression(keyword.value)}" for keyword in node.keywords]
        return self._listing(node, "(", items, ")")

    def _entries(self, node: ast.Dict) -> Iterator[str]:
        for key, value in zip(node.keys, node.values, strict=True):
            assert key is not None
            yield f"{self.expression(key)}: {self.expression(value)}"

    def _key(self, node: ast.expr) -> str:
        if not isinstance(node, ast.Slice):
            return self.bare(node)
        ends = [end for end in (node.lower, node.upper) if end is not None]
        space = "" if all(map(_is_simple, ends)) else " "
        lower = self.expression(node.lower) + space if node.lower is not None else ""
        upper = space + self.expression(node.upper) if node.upper is not None else ""
        return f"{lower}:{upper}"

    def _clauses(self, clauses: Sequence[ast.comprehension]) -> str:
        text = ""
        for clause in clauses:
            # A bare conditional would not parse here.
            iterable = self.expression(clause.iter, _OR)
            text += f" for {self.bare(clause.target)} in {iterable}"
            text += "".join(f" if {self.expression(test, _OR)}" for test in clause.ifs)
        return text

    def bare(self, node: ast.expr) -> str:
        """An expression where a tuple needs no parentheses."""
        if isinstance(node, ast.Tuple) and len(node.elts) > 1 and node not in self.breaks:
            return ", ".join(self._each(node.elts))
        return self.expression(node)

    # Statements

    def statement(self, node: ast.stmt) -> str:
        """A statement; its block, if it has one, stands below on lines of its own."""
        return "\n".join(self._lines(node))

    def _lines(self, node: ast.stmt, word: str = "if") -> list[str]:
        match node:
            case ast.If():
                lines = [self.head(node, word), *self._block(node.body)]
                if len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
                    return [*lines, *self._lines(node.orelse[0], "elif")]
                return [*lines, "else:", *self._block(node.orelse)] if node.orelse else lines
            case ast.For() | ast.While() | ast.With() | ast.FunctionDef() | ast.AsyncFunctionDef():
                return [self.head(node), *self._block(node.body)]
            case _:
                return [self.simple(node)]

    def _block(self, body: Sequence[ast.stmt]) -> list[str]:
        return [INDENT + line for node in body for line in self._lines(node)]

    def simple(self, node: ast.stmt) -> str:
        """A statement without a block."""
        match node:
            case ast.Assign():
                [target] = node.targets
                return f"{self.bare(target)} = {self.expression(node.value)}"
            case ast.AnnAssign():
                value = f" = {self.expression(node.value)}" if node.value is not None else ""
                return f"{self.expression(node.target)}: {self.expression(node.annotation)}{value}"
            case ast.Expr():
                return self.expression(node.value)
            case ast.Return():
                return f"return {self.expression(node.value)}" if node.value else "return"
            case ast.Assert():
                message = f", {self.expression(node.msg)}" if node.msg is not None else ""
                return f"assert {self.expression(node.test)}{message}"
            case ast.Import():
                return f"import {_aliases(node.names)}"
            case ast.ImportFrom():
                return f"from {node.module} import {_aliases(node.names)}"
            case ast.Pass():
                return "pass"
            case ast.Break():
                return "break"
            case ast.Continue():
                return "continue"
            case _:
                raise AssertionError(f"{type(node).__name__} is never emitted")

    def head(self, node: ast.stmt, word: str = "if") -> str:
        """The first line of a statement with a block; `word` begins that of an `if`."""
        match node:
            case ast.If():
                return f"{word} {self.expression(node.test)}:"
            case ast.While():
                return f"while {self.expression(node.test)}:"
            case ast.For():
                return f"for {self.bare(node.target)} in {self.bare(node.iter)}:"
            case ast.With():
                [item] = node.items
                return f"with {self.expression(item.context_expr)}:"
            case ast.FunctionDef():
                return f"def {node.name}{self._signature(node)}:"
            case ast.AsyncFunctionDef():
                return f"async def {node.name}{self._signature(node)}:"
            case ast.ClassDef():
                bases = f"({', '.join(self._each(node.bases))})" if node.bases else ""
                return f"class {node.name}{bases}:"
            case _:
                raise AssertionError(f"{type(node).__name__} is never emitted")

    def _signature(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> str:
        parameters = node.args.args
        defaults = [None] * (len(parameters) - len(node.args.defaults)) + node.args.defaults
        items = [self._parameter(*pair) for pair in zip(parameters, defaults, strict=True)]
        returns = f" -> {self.expression(node.returns)}" if node.returns is not None else ""
        return self._listing(node, "(", items, ")") + returns

    def _parameter(self, node: ast.arg, default: ast.expr | None) -> str:
        annotation = node.annotation
        text = node.arg if annotation is None else f"{node.arg}: {self.expression(annotation)}"
        if default is None:
            return text
        equals = "=" if annotation is None else " = "
        return f"{text}{equals}{self.expression(default)}"


def _level(node: ast.expr) -> int:
    """How tightly an expression binds; more is tighter."""
    if isinstance(node, ast.BinOp | ast.BoolOp | ast.UnaryOp):
        return _LEVELS[type(node.op)]
    return _LEVELS.get(type(node), _POSTFIX)


def _literal(value: object) -> str:
    match value:
        case str():
            return quoted(value)
        case float():
            return number(repr(value))
        case _:
            return "..." if value is ... else repr(value)


def number(text: str) -> str:
    """A number as black writes it: `1e16` for `1E+16`."""
    return text.lower().replace("e+", "e")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_simple(node: ast.expr) -> bool:
    return not any(isinstance(inner, _COMPLEX) for inner in ast.walk(node))


def _aliases(names: Sequence[ast.alias]) -> str:
    return ", ".join(f"{one.name} as {one.asname}" if one.asname else one.name for one in names)


def quoted(text: str) -> str:
    """A string literal on one line, in the quotes that need fewer escapes."""
    single, double = _in_quotes(text, "'"), _in_quotes(text, '"')
    return single if single.count("\\") < double.count("\\") else double


def _in_quotes(text: str, quote: str) -> str:
    if text.isascii() and text.isprintable() and quote not in text and "\\" not in text:
        return quote + text + quote
    return quote + "".join(_escaped(character, quote) for character in text) + quote


def _escaped(character: str, quote: str) -> str:
    if character == quote or character == "\\":
        return "\\" + character
    if character.isprintable():
        return character
    return repr(character)[1:-1]


def block_text(text: str) -> str:
    """The inside of a triple-quoted string for `text`, whose lines stay lines."""
    escaped = "\n".join(
        "".join(c if c == '"' else _escaped(c, "") for c in line) for line in text.split("\n")
    )
    return escaped.replace('"""', '\\"\\"\\"')
