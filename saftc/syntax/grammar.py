"""The parser for the tokens of one statement, which lark generates from the grammar.

Building the parser from `grammar.lark` takes longer than compiling most scripts, so its tables are
stored in a file in the same folder. Wheels contain this file. If the file is missing, or was made
for another grammar or another version of lark, the first use builds it. The file is a pickle, and
is trusted like the code in its folder.
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

# The version of the code that the tables refer to; increase it to rebuild them.
_FORM = "3"


class Tokens(Lexer):
    """An adapter that passes the tokens of our lexer to lark."""

    def __init__(self, _conf: object) -> None: ...

    def lex(self, lexer_state: Any, parser_state: object = None) -> Iterator[Any]:
        return iter(lexer_state)


def parse_statement(tokens: list[Token]) -> n.Statement:
    """Returns the node of a top-level statement.

    Raises:
        UnexpectedToken: The tokens are not a statement.
        Mistake: The tokens are a statement with a mistake that the grammar does not exclude.
    """
    parser: Any = _parser()
    return parser.parse(tokens)


@cache
def _parser() -> Any:
    return load_parser(Path(__file__).parent)


def load_parser(folder: Path) -> Any:
    """Returns the parser from the tables in `folder`.

    Builds the tables if they are missing or outdated.
    """
    path, version = folder / TABLES, _version()
    data = path.read_bytes() if path.is_file() else b""
    # lark's `load` has no types.
    kind: Any = lark.Lark
    if data.startswith(version):
        return kind.load(BytesIO(data[len(version) :]))
    parser = _built(kind)
    saved = BytesIO()
    parser.save(saved)
    with suppress(OSError):  # if the folder is not writable, only time is lost
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
    """Writes a file in one step, as other processes may read or write it at the same time."""
    half = path.with_name(f"{os.getpid()}.tables")
    try:
        half.write_bytes(data)
        os.replace(half, path)
    finally:
        half.unlink(missing_ok=True)


def _version() -> bytes:
    """Returns a digest that identifies the grammar and the version of lark."""
    return sha256("\0".join((_grammar(), lark.__version__, _FORM)).encode()).digest()


def _grammar() -> str:
    return (Path(__file__).parent / "grammar.lark").read_text(encoding="utf-8")
