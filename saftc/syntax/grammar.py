"""The grammar as lark's parser: tokens of one statement in, its node out.

Making the parser from `grammar.lark` takes longer than compiling most scripts. A wheel has its
tables beside it, made when the wheel was built; where those are of another lark, or there are none,
they are kept in the user's cache, by grammar and lark. What is damaged, from another version or out
of reach is passed over: the parser is made anew. lark saves its tables as a pickle, which could run
anything when it is read, so they are kept as JSON.
"""

import json
import pickle
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

_SHIPPED = "grammar.tables"

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
        UnexpectedToken: The tokens are not a statement.
        Mistake: They are one, with a mistake that the grammar does not exclude.
    """
    parser: Any = _parser()
    return parser.parse(tokens)


@cache
def _parser() -> lark.Lark:
    shipped = Path(__file__).parent / _SHIPPED
    parser = _loaded(shipped.read_bytes()) if shipped.is_file() else None
    if parser is not None:
        return parser
    folder = cache_in_use()
    return _made() if folder is None else load_parser(folder / "parser")


def load_parser(folder: Path) -> lark.Lark:
    """The parser, out of `folder` when it has been kept there, or else made and kept."""
    path = folder / _version()
    parser = _loaded(read_kept(path))
    if parser is None:
        parser = _made()
        keep(path, _saved(parser))
    return parser


def write_tables(folder: Path) -> None:
    """Writes the file of tables that a wheel has beside this module into `folder`."""
    (folder / _SHIPPED).write_bytes(_saved(_made()))


@cache
def _version() -> str:
    """What tells these tables from those of another grammar or another lark."""
    return sha256("\0".join((_grammar(), lark.__version__, _FORM)).encode()).hexdigest()


def _saved(parser: Any) -> bytes:
    """The tables of a parser behind the digest of them and of their version."""
    saved = BytesIO()
    parser.save(saved)
    content = json.dumps(_to_json(pickle.loads(saved.getvalue())), separators=(",", ":")).encode()
    return _digest(content) + content


def _loaded(data: bytes | None) -> Any:
    """The parser that was saved; None when there is none, or one damaged or of another version."""
    if data is None:
        return None
    digest, content = data[:_SIZE_OF_DIGEST], data[_SIZE_OF_DIGEST:]
    if digest != _digest(content):
        return None
    try:
        tables = json.loads(content, object_hook=_from_json)
    except ValueError:
        return None
    # What loads has no types.
    kind: Any = lark.Lark
    return kind.load(BytesIO(pickle.dumps(tables)))


def _digest(content: bytes) -> bytes:
    return sha256(_version().encode() + content).digest()


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
