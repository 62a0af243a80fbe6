"""Hints for syntax errors: what was probably meant, guessed from the tokens around the mistake.

    g(a=1)      `=` inside the parentheses of a call      arguments are named with `:`: `a: 1`

The rules are one table, `_RULES`. A `Row` lists conditions on the tokens around the unexpected
token. Functions handle the cases that need more.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate

from saftc.diagnostics.model import Edit, Hint
from saftc.source import Span
from saftc.syntax.mistakes.habits import (
    ABSENT_ARGUMENTS,
    ALL_FAILURES,
    GENERICS,
    NO_ELSE,
    OBJECTS,
    PLAIN_TYPES,
    PREFIXES,
    SPELLINGS,
    STRING_PREFIXES,
    WORDS,
)
from saftc.syntax.tokens import (
    CLOSER_OF,
    KEYWORDS,
    OPENS_BLOCK,
    Token,
    line_at,
    opener_above,
)

_VALUES = {"NAME", "INTEGER", "FLOAT", "STRING", "TRUE", "FALSE", "NIL", "PROMPT_START"}
_CLOSERS = set(CLOSER_OF.values())
_AUGMENTED = {"PLUS_ASSIGN", "MINUS_ASSIGN", "STAR_ASSIGN", "SLASH_ASSIGN", "PERCENT_ASSIGN"}


@dataclass(frozen=True, slots=True)
class Place:
    """An unexpected token and its context.

    `bad` is the token, at `position` in `tokens`. `expected` has the kinds of tokens that the
    grammar allows there. `opened` is the index of the bracket around the token.
    """

    bad: Token
    tokens: list[Token]
    position: int
    expected: set[str]
    opened: int | None

    @property
    def line(self) -> list[Token]:
        """The tokens of the logical line with the unexpected token."""
        return self.tokens[line_at(self.tokens, self.bad.span.start)]

    @property
    def first(self) -> Token:
        """The first token of the line."""
        return self.line[0] if self.line else self.bad

    @property
    def before(self) -> list[Token]:
        """The tokens on the line that precede the unexpected token."""
        return [token for token in self.line if token.span.start < self.bad.span.start]

    @property
    def opener(self) -> str:
        """The kind of the bracket around the unexpected token, or "" without a bracket."""
        return "" if self.opened is None else self.tokens[self.opened].kind

    def kind(self, offset: int) -> str:
        """The kind of the token at `offset` from the unexpected token. -1 is the token before it.

        The kind is "" if there is no token at this offset.
        """
        return self.token(offset).kind if self.token(offset) is not self.bad else ""

    def token(self, offset: int) -> Token:
        """The token at `offset` from the unexpected token. -1 is the token before it.

        Returns the unexpected token itself if there is no token at this offset.
        """
        position = self.position + offset
        return self.tokens[position] if 0 <= position < len(self.tokens) else self.bad

    @property
    def touches(self) -> bool:
        """True if no blank separates the unexpected token from the token before it."""
        return self.position > 0 and self.token(-1).span.end == self.bad.span.start


def hint_of(place: Place) -> str | Hint | None:
    """Returns the hint of the first rule that fits the unexpected token, or else None."""
    return next((hint for rule in _RULES if (hint := rule(place)) is not None), None)


def _instead(hint: str, first: Token, last: Token, text: str) -> Hint:
    """Returns a hint whose edit replaces the tokens from `first` to `last` by `text`."""
    return Hint(hint, edits=(Edit(Span(first.span.start, last.span.end), text),))


def _behind(hint: str, token: Token, text: str) -> Hint:
    """Returns a hint whose edit inserts `text` after a token."""
    return Hint(hint, edits=(Edit(Span(token.span.end, token.span.end), text),))


def _first_word(place: Place) -> str | Hint | None:
    first, line = place.first, place.line
    if first.kind != "NAME" or first.text not in WORDS or len(line) < 2:
        return None
    is_opener = place.bad.kind == "NEWLINE" and line[1].kind == "COLON" and place.bad is line[2]
    if place.bad is not line[1] and not is_opener:
        return None
    if place.bad.kind in ("ASSIGN", "COMMA", "DOT"):
        return None
    hint, spelling = WORDS[first.text], SPELLINGS.get(first.text)
    if spelling == "fail":
        return _failing(hint, line)
    if spelling is None or (spelling == "import" and line[1].kind != "NAME"):
        return hint
    # If the word is removed, so is the blank after it.
    end = first.span.end if spelling else line[1].span.start
    return Hint(hint, edits=(Edit(Span(first.span.start, end), spelling),))


def _failing(hint: str, line: list[Token]) -> str | Hint:
    """Returns the hint for `raise "text"`, `raise error` and `raise Error("text")`.

    In any other `raise`, a person must write the message, so the hint has no edit.
    """
    match [token.kind for token in line[1:]]:
        case ["STRING" | "NAME", "NEWLINE"] | ["FORMAT_START", *_]:
            return _instead(hint, line[0], line[0], "fail")
        case ["NAME", "LPAR", "STRING", "RPAR", "NEWLINE"]:
            text, end = line[3].span, line[4].span.end
            before = Edit(Span(line[0].span.start, text.start), "fail ")
            return Hint(hint, edits=(before, Edit(Span(text.end, end), "")))
        case _:
            return hint


def _failures(place: Place) -> str | None:
    """The hint for `except ValueError as e:`, for `fail a, b`, and for `else` after a `try`."""
    first, bad = place.first, place.bad
    if first.text == "except" and bad.kind not in ("NEWLINE", "COLON"):
        names = [token.text for token in place.line if token.kind == "NAME"]
        return ALL_FAILURES.format(names[-1] if "as" in names[:-1] else "error")
    if first.kind == "FAIL" and bad.kind == "COMMA":
        return "`fail` takes one message"
    above = opener_above(place.tokens, place.position)
    if bad.kind == "ELSE" and bad is first and above and above.kind in ("TRY", "EXCEPT"):
        return NO_ELSE
    return None


def _declaration(place: Place) -> str | None:
    """The hint for a word that other languages have before a value, such as `x = new Order()`."""
    previous = place.token(-1)
    if previous.kind != "NAME" or previous is place.bad or place.bad is place.first:
        return None
    if previous.text in PREFIXES and previous is not place.first:
        return WORDS.get(previous.text)
    return None


def _string_prefix(place: Place) -> str | None:
    previous = place.token(-1)
    if place.bad.kind != "STRING" or previous.kind != "NAME" or not place.touches:
        return None
    return next(
        (STRING_PREFIXES[letter] for letter in previous.text.lower() if letter in STRING_PREFIXES),
        None,
    )


def _brackets_of_types(place: Place) -> str | Hint | None:
    name = place.token(-1)
    if place.bad.kind not in ("LSQB", "LESS") or name.kind != "NAME":
        return None
    if place.kind(1) == "RSQB":
        written = f"[{PLAIN_TYPES.get(name.text, name.text)}]"
        return _instead(f"write `{written}`", name, place.token(1), written)
    if name.text in OBJECTS:
        return _map_type(place)
    if name.text not in GENERICS:
        return None
    inside: list[str] = []
    for token in place.tokens[place.position + 1 :]:
        if token.kind == "LSQB":
            return f"write `{GENERICS[name.text].format('T')}`"
        if token.kind not in ("NAME", "COMMA", "STRING", "NIL", "INTEGER"):
            break
        inside.append(_type_text(token))
    joined = "".join(inside)
    if name.text in ("Union", "Literal"):
        joined = joined.replace(", ", " | ")
    return f"write `{GENERICS[name.text].format(joined or 'any')}`"


def _map_type(place: Place) -> str:
    """The hint for Python's map types, such as `dict[str, int]`."""
    match place.tokens[place.position + 1 : place.position + 5]:
        case [key, comma, value, end] if comma.kind == "COMMA" and end.kind in ("RSQB", "GREATER"):
            kind = key.text if key.text in ("date", "datetime") else "string"
            return f"write `{{[{kind}]: {_type_text(value)}}}`"
        case _:
            return "write `{[string]: T}`"


def _type_text(token: Token) -> str:
    if token.kind == "COMMA":
        return ", "
    if token.kind == "STRING":
        return f'"{token.text}"'
    return PLAIN_TYPES.get(token.text, token.text)


def _augmented(place: Place) -> str | Hint | None:
    """The hint for `xs[0] += 1`, `x++` and `x--`."""
    bad, line = place.bad, place.line
    if bad.kind in _AUGMENTED:
        is_line = place.opened is None and all(one.kind != "ASSIGN" for one in place.before)
        if is_line and place.first.kind == "NAME":
            is_typed = line[1].kind == "COLON"
            return f"write `{line[0].text} {bad.text} ...`" if is_typed else _NEVER_CHANGED
        return "write an assignment on its own line"
    previous = place.token(-1)
    is_doubled = previous.kind in ("PLUS", "MINUS") and (
        (bad.kind == previous.kind and place.touches)
        or (bad.kind == "NEWLINE" and place.kind(-2) == previous.kind)
    )
    if not is_doubled or place.opened is not None:
        return None
    if line[0].kind != "NAME":
        return f"write `x {previous.text}= 1`"
    written = f"{line[0].text} {previous.text}= 1"
    last = bad if bad.kind == previous.kind else previous
    is_whole = line[-1].kind == "NEWLINE" and line[-2] is last and line[1].kind == previous.kind
    hint = f"write `{written}`"
    return _instead(hint, line[0], last, written) if is_whole else hint


def _assignment(place: Place) -> str | Hint | None:
    if place.bad.kind != "ASSIGN" or not place.before:
        return None
    first, previous = place.first, place.before[-1]
    if previous is first and first.kind != "NAME" and first.kind in KEYWORDS.values():
        return f"`{first.text}` is a keyword; choose another name"
    if place.kind(1) == "GREATER" and place.opener:
        return WORDS["lambda"]
    if place.opener == "LPAR":
        return _assignment_in_parentheses(place)
    if place.opener in ("LBRACE", "HOLE_START"):
        return None if place.opener == "HOLE_START" else _as_colon(place, _FIELD)
    if first.kind in ("IF", "ELIF", "WHILE", "ASSERT", "RET"):
        return _instead("write `==` to compare", place.bad, place.bad, "==")
    if place.opener:
        return None
    if place.first.kind in ("FUNCTION", "CONV", "FOR"):
        return None
    if place.kind(1) == "GREATER":
        return WORDS["lambda"]
    if any(token.kind == "ASSIGN" for token in place.before):
        return "assign one name per line"
    if first.kind == "LPAR" or first.kind == "LSQB":
        return _UNPACKING
    if previous.kind == "COLON" or previous.kind == "MINUS":
        is_glued = len(place.before) > 1 and place.before[-2].span.end == previous.span.start
        return _instead("write `=`", previous, place.bad, " =" if is_glued else "=")
    if previous.kind == "RPAR":
        return "only a name can be assigned"
    if previous.kind == "RSQB" or (len(place.before) > 2 and place.before[-2].kind == "DOT"):
        return _with_field(place.before) or _NEVER_CHANGED
    return None


def _with_field(target: list[Token]) -> str | None:
    """The hint for `row.id = 3` and `row["id"] = 3`: a new object with a changed field."""
    match target:
        case [name, dot, key] if dot.kind == "DOT" and name.kind == key.kind == "NAME":
            field = key.text
        case [name, _, key, _] if name.kind == "NAME" and key.kind in ("NAME", "STRING"):
            is_plain = key.text.isidentifier() and key.text.isascii()
            field = f"[{key.text}]" if key.kind == "NAME" else key.text if is_plain else None
        case _:
            return None
    made = f"{{...{name.text}, {field}: ...}}"
    return field and f"values are immutable: `{name.text} = {made}` makes a new object"


_FIELD = "a field is written `name: value`"
_NEVER_CHANGED = "values are immutable: make a new one and assign it to the name"
_UNPACKING = "write `a, b = pair`"


def _as_colon(place: Place, hint: str) -> Hint:
    """Returns a hint that replaces `name = value` by `name: value`."""
    start, end = place.token(-1).span.end, place.token(1).span.start
    return Hint(hint, edits=(Edit(Span(start, end), ": "),))


def _assignment_in_parentheses(place: Place) -> str | Hint | None:
    assert place.opened is not None
    name = place.token(-1)
    called = place.tokens[place.opened - 1] if place.opened else None
    if called is None or called.kind not in ("NAME", "RPAR", "RSQB"):
        return _instead("write `==` to compare", place.bad, place.bad, "==")
    if name.kind != "NAME":
        return None
    following = place.token(1)
    value = "..."
    if following.kind in ("INTEGER", "FLOAT", "NAME"):
        value = following.text
    elif following.kind == "STRING":
        value = f'"{following.text}"' if len(following.text) < 12 else '"..."'
    if (called.text, name.text) in ABSENT_ARGUMENTS:
        return ABSENT_ARGUMENTS[called.text, name.text]
    if called.text == "dict":
        return f"an object is written `{{{name.text}: {value}}}`"
    return _as_colon(place, f"arguments are named with `:`: write `{name.text}: {value}`")


def _commas(place: Place) -> str | None:
    """The hint for `x = 1, 2` and `import math, os`."""
    if place.bad.kind != "COMMA" or place.opened is not None:
        return None
    if place.first.kind == "IMPORT":
        return "write each `import` on its own line"
    if place.first.kind == "RET" or any(token.kind == "ASSIGN" for token in place.before):
        return f"write a tuple in parentheses: `{_tuple_at_end(place)}`"
    return None


def _tuple_at_end(place: Place) -> str:
    """Returns the values after the last `=` or `ret` as the text of a tuple.

    Returns `(a, b)` if the values are long, or if one of them is neither a name nor a number.
    """
    values: list[Token] = []
    for token in place.line[:-1]:
        values = [] if token.kind in ("ASSIGN", "RET") else [*values, token]
    is_plain = all(one.kind in ("NAME", "INTEGER", "FLOAT", "COMMA") for one in values)
    items = [one.text for one in values if one.kind != "COMMA"]
    if not is_plain or len(items) < 2 or sum(map(len, items)) > 30:
        return "(a, b)"
    return f"({', '.join(items)})"


def begins_unpacking(before: list[Token]) -> bool:
    """True if the tokens at the beginning of a line are expressions separated by commas."""
    if not before or before[0].kind not in ("NAME", "LPAR"):
        return False
    depths = accumulate((one.text in CLOSER_OF) - (one.text in _CLOSERS) for one in before)
    is_list = any(
        one.kind == "COMMA" and not depth for one, depth in zip(before, depths, strict=True)
    )
    return is_list and all(one.kind != "ASSIGN" for one in before)


def _unpacking(place: Place) -> str | None:
    """The hint for `a, b: int = pair` and other lines that begin with names and commas."""
    if place.opened is not None or not begins_unpacking(place.before):
        return None
    if place.bad.kind in _AUGMENTED:
        return "change one name on each line"
    return {
        "NEWLINE": "write a tuple in parentheses: `(a, b)`",
        "COLON": "names in an unpacking take no types: annotate the value",
        "STAR": "write as many names as items: `xs[0]` is the first, `xs[1:]` are the others",
        "ASSIGN": "`pair.0` is the first item",
    }.get(place.bad.kind)


def _rest(place: Place) -> str:
    return _FIXED if place.first.kind in ("FUNCTION", "CONV") else _NOT_TAKEN_OUT


def _comprehensions(place: Place) -> str | Hint | None:
    if place.bad.kind == "FOR" and place.opener == "LPAR":
        return "write a comprehension in square brackets: `[x for x in xs]`"
    inside = _inside(place) if place.opener == "LBRACE" else []
    kinds = [token.kind for token in inside]
    if "FOR" not in kinds:
        return None
    item = kinds[: kinds.index("FOR")]
    if place.opened and place.tokens[place.opened - 1].kind == "WITH":
        return "write out the options of a prompt"
    if "COMMA" in item or "ELLIPSIS" in item:
        return "a comprehension has one entry: `{[key]: value for x in xs}`"
    if "COLON" not in item:
        return "`[x for x in xs]` makes a list, and `{[key]: value for x in xs}` an object"
    if item[0] == "LSQB":
        return None
    key = inside[0].span.start, inside[item.index("COLON") - 1].span.end
    edits = Edit(Span(key[0], key[0]), "["), Edit(Span(key[1], key[1]), "]")
    return Hint("write the key in brackets: `{[key]: value for x in xs}`", edits=edits)


def _inside(place: Place) -> list[Token]:
    """Returns the tokens in the bracket around the unexpected token.

    The tokens inside nested brackets are left out.
    """
    found: list[Token] = []
    depth = 0
    for token in place.tokens[(place.opened or 0) + 1 :]:
        if token.text in _CLOSERS:
            depth -= 1
        if depth < 0:
            break
        if depth == 0:
            found.append(token)
        depth += token.text in CLOSER_OF
    return found


def _objects(place: Place) -> str | None:
    if place.opener != "LBRACE" or place.opened is None:
        return None
    if place.first.kind == "PATTERN_START" and "COLON" in place.expected:
        return None
    wants_colon = place.expected == {"COLON"}
    if wants_colon and place.bad.kind in ("LSQB", "LPAR", "DOT"):
        return "a key that is computed is written in brackets: `{[key]: value}`"
    wants_colon = wants_colon and place.bad.kind in ("COMMA", "RBRACE")
    if wants_colon or place.bad.kind in ("INTEGER", "FLOAT", "LPAR", "LSQB", "TRUE", "NIL"):
        return "an object is written `{name: value}`, its keys names or strings; a list `[1, 2]`"
    return None


def _slices(place: Place) -> str | None:
    if place.bad.kind != "COLON" or place.opener != "LSQB" or place.opened is None:
        return None
    inside = place.tokens[place.opened : place.position]
    has_step = sum(token.kind == "COLON" for token in inside) > 1
    return "a slice has a start, a stop and a step" if has_step else None


def _parameters(place: Place) -> str | Hint | None:
    """The hint for `f g(x int)` and `type P:`."""
    is_type = place.first.kind == "TYPE" and place.opened is None
    if is_type and place.bad.kind in ("COLON", "LBRACE"):
        name = place.line[1].text
        return f"write the fields in parentheses: `type {name}(id: int)`"
    is_typed = place.first.kind in ("TYPE", "FUNCTION", "CONV") and place.opener == "LPAR"
    if is_typed and place.bad.kind == "NAME" and place.kind(-1) == "NAME":
        first, second = place.token(-1).text, place.bad.text
        if first in PLAIN_TYPES or first in ("int", "float", "bool", "string"):
            first, second = second, first
        if second in PLAIN_TYPES or second in ("int", "float", "bool", "string"):
            written = f"{first}: {PLAIN_TYPES.get(second, second)}"
            return _instead(f"write `{written}`", place.token(-1), place.bad, written)
        return f"write `{first}, {second}`, or `{first}: type`"
    return None


def _conditions(place: Place) -> str | None:
    bad = place.bad
    if bad.kind == "QUESTION":
        is_choice = any(token.kind == "COLON" for token in place.line[len(place.before) :])
        return _CHOICE if is_choice else "for a value that may be nil, write `a if a != nil else b`"
    if "ELSE" in place.expected and "NEWLINE" not in place.expected and bad.kind not in _VALUES:
        return _CHOICE
    return None


def _numbers(place: Place) -> str | Hint | None:
    if place.bad.kind == "DOT" and place.kind(1) == "INTEGER":
        written = f"0.{place.token(1).text}"
        return _instead(f"write `{written}`", place.bad, place.token(1), written)
    if place.kind(-1) == "DOT" and place.kind(-2) == "INTEGER":
        written = f"{place.token(-2).text}.0"
        return _instead(f"write `{written}`", place.token(-2), place.token(-1), written)
    return None


def _spreads(place: Place) -> str | None:
    """The hint for `...` outside of list and object literals."""
    if place.opened is None:
        return None
    is_first = place.tokens[place.opened + 1].kind == "ELLIPSIS"
    if place.bad.kind == "FOR" and place.opener == "LSQB" and is_first:
        return "a comprehension makes one item in each iteration: `[x for xs in rows for x in xs]`"
    if place.bad.kind != "ELLIPSIS" or place.opener != "LPAR":
        return None
    before = place.tokens[place.opened - 1].kind if place.opened else ""
    is_call = before in ("NAME", "RPAR", "RSQB")
    return _rest(place) if is_call else "only lists and objects take `...`: `[...xs, x]`"


def _options(place: Place) -> str | None:
    """The hint for `$ ... $ with temperature=0` and `$ ... $ with model "small"`."""
    if place.kind(-2) != "WITH" or place.kind(-1) != "NAME":
        return None
    return f"options are an object: `with {{{place.token(-1).text}: ...}}`"


def _calls(place: Place) -> str | None:
    """The hint for calls such as `len xs` and `Point{x: 1}`."""
    name = place.token(-1)
    if place.bad.kind == "LBRACE" and name.kind == "NAME" and place.touches:
        return f"a record is made by a call: `{name.text}(...)`"
    follows = place.bad.kind in ("NAME", "STRING", "INTEGER") and name.kind == "NAME"
    if not follows or name is place.bad or place.opener or place.first.kind in _NO_CALLS:
        return None
    value = place.bad.text if place.bad.kind != "STRING" else "..."
    if place.bad.kind == "NAME" and place.kind(1) == "ASSIGN":
        return "an assignment needs no word before it"
    return f"a call has parentheses: `{name.text}({value})`" if len(value) < 30 else None


_NO_CALLS = {*OPENS_BLOCK, "TYPE", "IMPORT", "FROM"}


def _keywords(place: Place) -> str | None:
    bad = place.bad
    if bad.text in KEYWORDS and place.expected == {"NAME"}:
        return f"`{bad.text}` is a keyword; choose another name"
    return None


def _nested_pattern(place: Place) -> str | None:
    if place.first.kind == "PATTERN_START" and place.expected == {"ASSIGN"}:
        return "a `{` at the beginning of a line destructures an answer: `{name: type} = $ ... $`"
    if place.opener != "LBRACE" or place.opened is None or "COLON" not in place.expected:
        return None
    if place.first.kind != "PATTERN_START":
        return None
    field = place.tokens[place.opened - 2]
    return f"patterns do not nest: write `{field.text}: {{name: type}}` and read its fields"


def _second_after(place: Place) -> str | None:
    if place.bad.text == "after" and "AFTER" in (one.kind for one in place.before):
        return "a prompt continues one conversation"
    return None


def _return(place: Place) -> str | None:
    is_head = place.opened is None and place.first.kind in ("FUNCTION", "CONV")
    is_return = place.kind(-1) == "NAME" and place.token(-1).text == "return"
    return "write `ret`" if is_head and is_return else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A hint, with conditions on the tokens around the unexpected token.

    A condition lists the allowed kinds of tokens, or words, separated by blanks. The condition ""
    always holds.

    - `bad`, `before`, `after`: the kinds of the unexpected token and of its neighbours.
    - `words`: the text of the unexpected token.
    - `inside`: the kind of the bracket around it, or "-" without a bracket.
    - `called`: the kind of the token before this bracket.
    - `first`, `second`: the kinds of the first two tokens of the line.
    - `begins`: the text of the first token of the line.
    - `expects`: a kind of token that the grammar allows in this place.

    `put` replaces the tokens from `start` to `end`, counted from the unexpected token. `behind` is
    inserted after the token before the unexpected token.
    """

    hint: str
    bad: str = ""
    words: str = ""
    before: str = ""
    after: str = ""
    inside: str = ""
    called: str = ""
    first: str = ""
    begins: str = ""
    second: str = ""
    expects: str = ""
    is_first: bool = False
    put: str | None = None
    start: int = 0
    end: int = 0
    behind: str = ""

    def __call__(self, place: Place) -> str | Hint | None:
        """Returns the hint, with its edit, if all conditions hold. Otherwise returns None."""
        bad, line = place.bad, place.line
        called = place.tokens[place.opened - 1].kind if place.opened else ""
        pairs = (
            (self.bad, bad.kind),
            (self.words, bad.text),
            (self.before, place.kind(-1)),
            (self.after, place.kind(1)),
            (self.inside, place.opener or "-"),
            (self.called, called),
            (self.first, place.first.kind),
            (self.begins, place.first.text),
            (self.second, line[1].kind if len(line) > 1 else ""),
        )
        if any(wanted and found not in wanted.split() for wanted, found in pairs):
            return None
        if (self.expects and self.expects not in place.expected) or (
            self.is_first and bad is not place.first
        ):
            return None
        if self.behind:
            return _behind(self.hint, place.token(-1), self.behind)
        if self.put is None:
            return self.hint
        return _instead(self.hint, place.token(self.start), place.token(self.end), self.put)


_VALUE = " ".join(sorted(_VALUES))
_OPENERS = " ".join(sorted(OPENS_BLOCK))
_TEXT = "STRING FORMAT_START"
_POWER = "there is no power operator: write `pow(2, 3)`, with `from builtins import pow` at the top"
_EQUAL, _UNEQUAL = "write `==` to compare", "write `!=` to compare"
_NO_BITS = "there are no operators for bits"
_NO_TRIPLE = r"a prompt ends at the next `$`; `\$` is a dollar sign in its text"
_TYPE_FIRST = r"the type follows the name: `x: int = $ ... $`; `\$` is a dollar sign in a prompt"
_TOOLS = "offer a function by its name in the prompt, `{look_up}`, or by `with {tools: [look_up]}`"
_VALUE_FIRST = "give the name a value: `x: int = 0`"
_IN_BRACES = "put the names for one answer in braces: `{x: int, y: string} = $ ... $`"
_NO_GENERICS = "there are no type parameters; the type `any` takes every value"
_ALTERNATIVES = 'write alternatives as `"a" | "b"`, and a tuple as `(int, string)`'
_NO_ARGUMENTS = f"a type has no arguments; {_ALTERNATIVES}"
_UNITS = "day days hour hours minute minutes second seconds week weeks"
_SLASHES = "a comment begins with `//`"
_ENDS = "a line that opens a block ends with `:`"
_CHOICE = "write `a if c else b`"
_FIXED = "a function has a fixed number of parameters; let one take a list"
_NOT_TAKEN_OUT = "a list or an object is not unpacked into arguments; give each, or pass the list"
_NO_FORMATS = "the formats are `raw` and `approve`; `round(x, 2)` and `str(x)` change a value"
_ONE_BRACE = r"one pair of braces inserts a value; `\{` is a brace in the text"
_NO_PATTERNS = "name what you import: `from module import one, two`"
_PACKAGE = "to import a module of the script's package, write `from . import weather`"
_UNQUOTED = "a module is named without quotes: `from weather import forecast`"
_BARE_FOR = "write `for x in xs:`, without parentheses"
_HEADLESS = "a function begins with `f` and its name: `f g(x):`"
_GIVES = "a function returns its value with `ret`: `f g(x): ret x`"
_DEFINE = "write the parameters in parentheses: `f name(x):`"
_RESULT = "write the type of the result before the `:`"
_BLOCK = "a block begins with `:` and is indented"
_OWN_LINE = "it begins a new line, below the block"
_BEGINS = "write a `:` before the block"
_OPTIONAL = "the type of a value that may be nil ends with `?`: `name: string?`"
_MODES = "only `do`, `program` and `stream` can precede a prompt"

# The first rule that fits wins, so special rules precede general ones.
_RULES: tuple[Callable[[Place], str | Hint | None], ...] = (
    _failures,
    _first_word,
    Row(before="PROMPT_END", bad="ARROW", hint=_TYPE_FIRST),
    Row(before="PROMPT_END", words="tools", hint=_TOOLS),
    Row(before="PROMPT_END", words="do stream program", after="NEWLINE", hint=_MODES),
    Row(before="PROMPT_END", words="as", after="NAME LSQB", hint=_TYPE_FIRST),
    Row(before="PROMPT_END", bad=f"{_VALUE} NOT IS", hint=_NO_TRIPLE),
    Row(begins="match switch", second="LPAR", hint=WORDS["switch"]),
    _options,
    Row(before="SLASH", bad="STAR", hint=_SLASHES),
    Row(bad="SLASH", after="STAR", hint=_SLASHES),
    Row(inside="LBRACE", called="HOLE_START", after="HOLE_END", hint=_ONE_BRACE),
    Row(inside="HOLE_START", before="COLON", bad="DOT COMMA GREATER LESS", hint=_NO_FORMATS),
    _nested_pattern,
    _string_prefix,
    _declaration,
    Row(before="STAR", bad="STAR STAR_ASSIGN", hint=_POWER),
    Row(before="EQUAL", bad="ASSIGN", hint=_EQUAL, put="==", start=-1),
    Row(before="NOT_EQUAL", bad="ASSIGN", hint=_UNEQUAL, put="!=", start=-1),
    Row(before="LESS", bad="GREATER", hint="write `!=`", put="!=", start=-1),
    Row(before="LESS", bad="LESS", hint=_NO_BITS),
    Row(before="GREATER", bad="GREATER", hint=_NO_BITS),
    Row(before="ASSIGN", bad="GREATER", hint="define a function with `f`"),
    Row(before="STRING FORMAT_END", bad=_TEXT, hint="strings are joined with `+`"),
    Row(before="ELSE", bad="IF", hint="write `elif`", put="elif", start=-1),
    Row(before="NOT", bad="IN", hint="write `x not in xs`"),
    Row(before="NAME", bad="PROMPT_START", hint=_MODES),
    Row(bad="NAME", words="is", after="NOT", hint="write `!=`", put="!=", end=1),
    Row(bad="NAME", words="is", hint="write `==`", put="=="),
    Row(words="instanceof isinstance", hint='`type(x) == "int"` tests the type of a value'),
    _second_after,
    Row(bad="NAME", words="then", hint=_ENDS),
    Row(first="FOR", words="of", hint="write `for x in xs:`"),
    Row(first="FOR", before="COLON", bad="NEWLINE", hint="write `for x in xs:`"),
    Row(first="FOR", bad="ASSIGN LPAR", hint="write `for i in range(n):`"),
    Row(first="FOR", inside="LPAR", called="FOR", hint=_BARE_FOR),
    Row(inside="-", first="NAME", second="LPAR", before="RPAR", bad="COLON", hint=_HEADLESS),
    Row(inside="-", bad="INDENT", hint="a block begins below a line that ends with `:`"),
    _return,
    Row(inside="-", first="FUNCTION CONV", bad="ARROW", hint=_RESULT),
    Row(inside="-", first="FUNCTION CONV", bad="ASSIGN", hint=_GIVES),
    Row(inside="-", first="FUNCTION CONV", bad="NAME COLON", expects="LPAR", hint=_DEFINE),
    _brackets_of_types,
    _unpacking,
    _augmented,
    Row(first="NAME", second="COLON", bad="NEWLINE", expects="ASSIGN", hint=_VALUE_FIRST),
    Row(first="NAME", second="COLON", bad="COMMA", expects="ASSIGN", hint=_IN_BRACES),
    Row(bad="COLON", after="ASSIGN", hint="write an assignment on its own line"),
    Row(first="NAME", second="MINUS", bad="ASSIGN", hint="a name has no `-`: write `first_name`"),
    _assignment,
    _commas,
    Row(bad="STAR", first="FROM", hint=_NO_PATTERNS),
    Row(bad="STAR", inside="LSQB", hint="write `[...xs, x]`"),
    Row(bad="STAR", inside="LBRACE", hint="write `{...row, id: 3}`"),
    Row(bad="STAR", first="FUNCTION CONV", inside="LPAR", before="LPAR COMMA", hint=_FIXED),
    Row(bad="STAR", inside="LPAR", before="LPAR COMMA", hint=_NOT_TAKEN_OUT),
    _comprehensions,
    _spreads,
    _objects,
    _slices,
    Row(first="TYPE FUNCTION CONV", bad="LSQB LESS", expects="LPAR", hint=_NO_GENERICS),
    Row(first="NAME", second="COLON", bad="LPAR", expects="BAR", hint=_NO_ARGUMENTS),
    Row(first="NAME", second="COLON", bad="COMMA", inside="LSQB", hint=_ALTERNATIVES),
    Row(before="INTEGER FLOAT NAME RPAR", words="mod", hint="write `%`", put="%"),
    Row(before="INTEGER FLOAT NAME RPAR", words="div", hint="write `div(a, b)`"),
    Row(before="INTEGER", words=_UNITS, hint="write `duration(days: 3)`"),
    Row(first="FROM", bad="LPAR", hint="write the names on one line, without parentheses"),
    Row(begins="import", second="DOT ELLIPSIS", hint=_PACKAGE),
    Row(begins="from import", bad="STRING", hint=_UNQUOTED),
    _parameters,
    Row(first=_OPENERS, inside="-", expects="COLON", words="else elif except", hint=_OWN_LINE),
    Row(first=_OPENERS, inside="-", expects="COLON", bad="LBRACE", hint=_BLOCK),
    Row(first=_OPENERS, inside="-", expects="COLON", bad="NEWLINE", hint=_ENDS, behind=":"),
    Row(first=_OPENERS, inside="-", expects="COLON", bad=_VALUE, hint=_BEGINS, behind=":"),
    Row(bad="ELLIPSIS", inside="-", hint="write `nil` for an empty block", put="nil"),
    Row(before="DOT", bad="DOT", hint="write `range(a, b)`"),
    _numbers,
    _keywords,
    Row(inside="HOLE_START", hint=r"write `\{` for a brace in the text"),
    Row(bad="QUESTION", first="TYPE FUNCTION", inside="LPAR", hint=_OPTIONAL),
    Row(bad="QUESTION", inside="LBRACE PATTERN_START", after="COLON", hint=_OPTIONAL),
    Row(bad="QUESTION", before="COLON BAR ARROW", hint=_OPTIONAL),
    _conditions,
    Row(bad="ELSE", inside="LSQB", hint="write `[a if c else b for x in xs]`"),
    Row(bad="IF", before="ASSIGN LPAR LSQB COMMA RET", hint=_CHOICE),
    Row(bad="ELSE", is_first=True, after="IF", hint="write `elif`", put="elif", end=1),
    Row(bad="ELSE ELIF", is_first=True, hint="there is no `if` before it at this indentation"),
    Row(bad="OR", before="STRING NAME NIL", expects="ASSIGN", hint="write `|`", put="|"),
    Row(bad="BAR", before="RBRACE", hint="write `{...a, ...b}`"),
    Row(bad="BAR", after="BAR", hint="write `or`", put="or", end=1),
    Row(bad="BAR", hint="write `or`", put="or"),
    Row(
        inside="LPAR LSQB LBRACE",
        before="NAME",
        bad="NAME STRING INTEGER FLOAT",
        expects="COMMA",
        hint="a comma is missing, or the parentheses of a call",
    ),
    Row(
        inside="LPAR LSQB LBRACE",
        before=f"{_VALUE} RPAR RSQB",
        bad=_VALUE,
        expects="COMMA",
        hint="a comma is missing",
        behind=",",
    ),
    _calls,
    Row(inside="-", bad="NAME", after="ASSIGN", hint="put each statement on its own line"),
)
