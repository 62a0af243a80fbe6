"""The grammar as lark's parser: tokens of one statement in, its node out.

Making the parser from `grammar.lark` takes longer than compiling most scripts, so it is kept in the
user's cache, by grammar, lark and Python. What is damaged, from another version or out of reach
there is passed over: the parser is made anew. lark saves its tables as a pickle, which could run
anything when it is read, so they are kept as JSON.
"""

import json
import pickle
import sys
from collections.abc import Iterator
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
from saftc.user_cache import cache_in_use, keep, read_kept

_SIZE_OF_DIGEST = sha256().digest_size

# What the files hold, apart from lark's own form: another number makes them anew.
_FORM = "2"

# Keys of what JSON has no form for; lark's own are words.
_PAIRS, _OURS = ":pairs", ":ours"


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
    versions = (lark.__version__, sys.version, _FORM)
    path = folder / sha256("\0".join((_grammar(), *versions)).encode()).hexdigest()
    # What saves and loads has no types.
    kind: Any = lark.Lark
    tables = _tables(read_kept(path))
    if tables is not None:
        return kind.load(BytesIO(pickle.dumps(tables)))
    made = _made()
    saved = BytesIO()
    made.save(saved)
    content = json.dumps(_to_json(pickle.loads(saved.getvalue()))).encode()
    keep(path, sha256(content).digest() + content)
    return made


def _made() -> Any:
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


def _tables(data: bytes | None) -> Any:
    """What was kept behind the digest of it; None when it is damaged, or there is nothing."""
    if data is None:
        return None
    digest, content = data[:_SIZE_OF_DIGEST], data[_SIZE_OF_DIGEST:]
    if sha256(content).digest() != digest:
        return None
    try:
        return json.loads(content, object_hook=_from_json)
    except ValueError:
        return None


def _to_json(value: Any) -> Any:
    """A saved value as JSON has it: keys that are not strings as pairs, our two classes by name."""
    match value:
        case dict():
            items: list[tuple[Any, Any]] = [(k, _to_json(v)) for k, v in value.items()]  # pyright: ignore[reportUnknownVariableType]
            return dict(items) if all(isinstance(k, str) for k, _ in items) else {_PAIRS: items}
        case list() | tuple():
            return [_to_json(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
        case Builder():
            return {_OURS: "builder"}
        case _:
            return {_OURS: "tokens"} if value is Tokens else value


def _from_json(value: dict[str, Any]) -> Any:
    if _PAIRS in value:
        return {key: item for key, item in value[_PAIRS]}
    if _OURS in value:
        return Builder() if value[_OURS] == "builder" else Tokens
    return value
