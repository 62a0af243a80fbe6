"""The grammar as lark's parser: tokens of one statement in, its node out.

Making the parser from `grammar.lark` takes longer than compiling most scripts, so it is kept in the
user's cache, by grammar, lark and Python. What is damaged, from another version or out of reach
there is passed over: the parser is made anew. Files are written under another name and then moved,
so that no process reads half of one.
"""

import os
import sys
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
from saftc.user_cache import cache_in_use

_SIZE_OF_DIGEST = sha256().digest_size


class Tokens(Lexer):
    """Lets lark read the tokens that our lexer made."""

    def __init__(self, _conf: object) -> None: ...

    def lex(self, lexer_state: Any, parser_state: object = None) -> Iterator[Any]:
        return iter(lexer_state)


def parse_statement(tokens: list[Token]) -> n.Statement:
    """The node of a top-level statement.

    Raises:
        UnexpectedToken: The tokens are no statement.
        Mistake: They are one, with a mistake that the grammar does not exclude.
    """
    parser: Any = _parser()
    return parser.parse(tokens)


@cache
def _parser() -> lark.Lark:
    folder = cache_in_use()
    return _made() if folder is None else load_parser(folder / "parser")


def load_parser(folder: Path) -> lark.Lark:
    """The parser, out of `folder` when it has been kept there, or else made and kept."""
    versions = (lark.__version__, sys.version, Builder.__module__, Tokens.__module__)
    path = folder / sha256("\0".join((_grammar(), *versions)).encode()).hexdigest()
    kept = _kept(path)
    if kept is not None:
        kind: Any = lark.Lark
        return kind.load(BytesIO(kept))
    made = _made()
    written = BytesIO()
    made.save(written)
    _keep(path, written.getvalue())
    return made


def _made() -> Any:
    # What saves and loads has no types.
    kind: Any = lark.Lark
    return kind(
        _grammar(),
        parser="lalr",
        lexer=Tokens,
        start="statement",
        maybe_placeholders=False,
        transformer=Builder(),
    )


def _grammar() -> str:
    return (Path(__file__).parent / "grammar.lark").read_text(encoding="utf-8")


def _kept(path: Path) -> bytes | None:
    """What a file holds behind the digest of it; None when it is damaged or cannot be read."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    digest, content = data[:_SIZE_OF_DIGEST], data[_SIZE_OF_DIGEST:]
    return content if sha256(content).digest() == digest else None


def _keep(path: Path, content: bytes) -> None:
    half = path.with_name(f"{path.name}.{os.getpid()}")
    # Who cannot write here makes the parser each time.
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            half.write_bytes(sha256(content).digest() + content)
            os.replace(half, path)
        finally:
            half.unlink(missing_ok=True)
