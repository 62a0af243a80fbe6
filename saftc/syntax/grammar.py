"""The grammar as lark's parser, which turns the tokens of one statement into its node.

Building the parser from `grammar.lark` takes longer than compiling most scripts, so its tables are
in a file beside this module. A wheel contains it. Elsewhere, and if the file belongs to another
grammar or another lark, the first use builds it. It is a pickle, and trusted like the code beside
it.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import lark
from lark.lexer import Lexer

from saftc.syntax import nodes as n
from saftc.syntax.builder import Builder
from saftc.syntax.tokens import Token

TABLES = "grammar.tables"

# The version of what the tables refer to: another number rebuilds them.
_FORM = "3"


class Tokens(Lexer):
    """Lets lark read the tokens of our lexer."""

    def __init__(self, _conf: object) -> None: ...

    def lex(self, lexer_state: Any, parser_state: object = None) -> Iterator[Any]:
        return iter(lexer_state)


def parse_statement(tokens: list[Token]) -> n.Statement:
    """The node of a top-level statement.

    Raises:
        UnexpectedToken: The tokens are not a statement.
        Mistake: They are one, with a mistake that the grammar does not exclude.
    """
    parser: Any = _parser()
    return parser.parse(tokens)


@cache
def _parser() -> Any:
    return load_parser(Path(__file__).parent)


def load_parser(folder: Path) -> Any:
    """The parser from the tables in `folder`; builds the tables if none fit."""
    path, version = folder / TABLES, _version()
    data = path.read_bytes() if path.is_file() else b""
    # lark's `load` has no types.
    kind: Any = lark.Lark
    if data.startswith(version):
        return kind.load(BytesIO(data[len(version) :]))
    parser = _built(kind)
    saved = BytesIO()
    parser.save(saved)
    with suppress(OSError):  # a folder that cannot be written costs time, and nothing else
        _write(path, version + saved.getvalue())
    return parser


def _built(kind: Any) -> Any:
    return kind(
        _grammar(),
        parser="lalr",
        lexer=Tokens,
        start="statement",
        maybe_placeholders=False,
        transformer=Builder(),
    )


def _write(path: Path, data: bytes) -> None:
    """Writes a file that others may read or write at the same time."""
    half = path.with_name(f"{os.getpid()}.tables")
    try:
        half.write_bytes(data)
        os.replace(half, path)
    finally:
        half.unlink(missing_ok=True)


def _version() -> bytes:
    """A digest that tells these tables from those of another grammar or another lark."""
    return sha256("\0".join((_grammar(), lark.__version__, _FORM)).encode()).digest()


def _grammar() -> str:
    return (Path(__file__).parent / "grammar.lark").read_text(encoding="utf-8")
