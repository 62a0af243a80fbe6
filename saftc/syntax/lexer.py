"""Splits the text of a script into tokens and comments.

    x = $ add {a} to {b:raw} $  // note

becomes NAME ASSIGN PROMPT_START PROMPT_TEXT HOLE_START NAME HOLE_END PROMPT_TEXT HOLE_START NAME
COLON NAME HOLE_END PROMPT_TEXT PROMPT_END NEWLINE, and the comment separately.

The lexer is in one of two modes. In code, newlines and indentation become NEWLINE, INDENT and
DEDENT, except inside brackets. In a prompt, everything up to the next `$` is text, but a `{` opens
a hole, which is code again. So prompts nest in holes to any depth; a stack of open brackets,
prompts and holes holds the current state.

The lexer reports mistakes and continues: after an unclosed bracket, string or prompt, it resumes
below the line with the opening character, so that such a mistake does not hide later ones.
"""

import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Code, Collector, Diagnostic, Edit, Hint, Related
from saftc.source import Source, Span
from saftc.syntax.mistakes.divisions import DIVISION_HINT, swallows
from saftc.syntax.mistakes.habits import CHARACTERS, CLOSING_QUOTES, INSTEAD
from saftc.syntax.texts import ESCAPE, ESCAPES, is_half, string_value, without_margin
from saftc.syntax.tokens import (
    CLOSER_OF,
    KEYWORDS,
    LAYOUT,
    OPERATORS,
    SOFT_KEYWORDS,
    Comment,
    Token,
)

# Python's parser fails at 200 nested brackets and 100 nested blocks; scripts have lower limits.
MOST_BRACKETS = 100
MOST_BLOCKS = 20

# Python refuses to convert longer integers from text.
LONGEST_INTEGER = 4300

_OPERATOR = "|".join(re.escape(text) for text in sorted(OPERATORS, key=len, reverse=True))
# One token of code, including the blanks before it.
_CODE = re.compile(
    rf"""
    [ \t]*
  (?:
    (?P<format>f(?:\"\"\"|\"))
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<comment>//[^\n]*)
  | (?P<newline>\n)
  | (?P<number>[0-9][0-9A-Za-z_]*(?:\.[0-9][0-9A-Za-z_]*)?(?:(?<=[eE])[+-][0-9A-Za-z_]+)?)
  | (?P<text>\"\"\"|\")
  | (?P<prompt>\$)
  | (?P<opening>[(\[{{])
  | (?P<closing>[)\]}}])
  | (?P<operator>{_OPERATOR})
  | (?P<blank>[ \t])
  )
    """,
    re.VERBOSE,
)
_NUMBER = re.compile(
    r"(?P<integer>0|[1-9][0-9]*(?:_[0-9]+)*)"
    r"(?P<float>(?:\.[0-9]+(?:_[0-9]+)*)?(?:[eE][+-]?[0-9]+)?)"
)
# Python's conversions, such as `!r`, which the holes of formatted strings do not have in Saft.
_CONVERSION = re.compile(r"![rsa][:}]")
_BLANKS = re.compile(r"[ \t]*")
# The shebang line of an executable script, which the operating system reads.
SHEBANG = re.compile(r"#![^\n]*\n?")
_DIGITS = re.compile(r"[0-9]+")
_LINE_TEXT = re.compile(r'(?:[^"\\\n]|\\.)*')
_BLOCK_TEXT = re.compile(r'(?:[^"\\]|\\.|"(?!""))*', re.DOTALL)
_FORMAT_LINE = re.compile(r'(?:[^"\\{}\n]|\\.|\{\{|\}\})+')
_FORMAT_BLOCK = re.compile(r'(?:[^"\\{}]|\\.|\{\{|\}\}|"(?!""))+', re.DOTALL)
# The format of a hole: Python's syntax, without nested holes.
_SPECIFICATION = re.compile(r':[^{}"\n]*')
_FORMAT_HOLE = "format hole"
_PROMPT_TEXT = re.compile(r"(?:[^\\${}]|\\.|\\\n)+", re.DOTALL)
# Characters that no text may contain: bytes that are not UTF-8, NUL, and bare carriage returns.
_UNREADABLE = re.compile("[\ud800-\udfff\0\r]")
# A file with more bytes than this that are NUL or not UTF-8 is not a script.
_FEW_BYTES = 8
_NO_TEXT = re.compile("[\udc80-\udcff\0]")

_WORDS = KEYWORDS.keys() | SOFT_KEYWORDS.keys()

# What may follow the end of a prompt: the end of the line, a comment, an operator, or a word.
_AFTER_PROMPT = re.compile(
    r"[ \t]*(?://|$|\n|[+*/%<>|=-]|!=|\.\w|\[|\$"
    r"|(?:with|after|if|else|and|or|not|in|is|for)\b)"
)
# The end of code before another prompt on the same line.
_BEFORE_PROMPT = re.compile(
    r"(?:[-+*/%<>=(\[{,:]|\b(?:if|elif|else|and|or|not|in|while|ret|assert|do|program|stream|after))\s*$"
)
# The text after `from` if the module's name is relative to the script's package.
_RELATIVE = re.compile(r"[ \t]*\.[ \t.\w]*(?<=[ \t.])import[ \t]")
# The kinds of the last token of the expression after `after`.
_ENDS_AFTER = ("NAME", "INTEGER", "RPAR", "RSQB")
# The text after `stream` if a prompt follows.
_STREAMED = re.compile(r"[ \t]*(?:(?:do|program)[ \t]*)?\$")
# What may follow a prompt only inside brackets, or in a statement that continues.
_AFTER_INNER_PROMPT = re.compile(r"[ \t]*(?:[,:)\]}]|\n)")
_GOES_ON_BEHIND = {",": {"ASSERT", "RET"}, ":": {"IF", "ELIF", "WHILE", "FOR"}}

# The beginning of a value after `fail` and a blank, although `fail` might be a name.
_APPLIED = re.compile(r"[ \t]*(?:[(\[{]|-(?![ \t])|not\b(?![ \t]+in\b))")
# Words that continue an expression after a value.
_BEHIND_VALUES = {"and", "or", "in", "not", "if", "else", "for", "is"}

_BRACE = re.compile(r"[{}]")

_BLANK_NAMES = {"\t": "a tab", "\r": "a carriage return", "\u00a0": "a no-break space"}


@dataclass(slots=True)
class Lexed:
    """The result of the lexer: the tokens, comments and mistakes of a file, all in source order."""

    tokens: list[Token] = field(default_factory=list[Token])
    comments: list[Comment] = field(default_factory=list[Comment])
    mistakes: tuple[Diagnostic, ...] = ()


def lex(source: Source, mistakes: Collector) -> Lexed:
    """Returns the tokens and comments of `source`. Adds the mistakes of the text to `mistakes`."""
    found = Collector()
    lexer = _Lexer(source, found)
    if not lexer.is_of_another_kind():
        lexer.run()
    lexer.lexed.mistakes = found.all()
    for mistake in lexer.lexed.mistakes:
        mistakes.add(mistake)
    return lexer.lexed


def lex_beginning(text: str) -> tuple[list[Token], list[str], bool]:
    """Lexes a text that may end anywhere, such as a script that is being typed.

    Returns its tokens, the character or name of each bracket, prompt or hole that is open at its
    end, and whether it ends inside a string, a comment or the text of a prompt.
    """
    lexer = _Lexer(Source.from_text("", text), Collector(None))
    lexer.read()
    return lexer.tokens, [one.what for one in lexer.open], lexer.ends_in_words()


class _Open(NamedTuple):
    """An open bracket, prompt (`$`), hole (`hole`) or formatted string.

    `line_text` is the stack index of the outermost open single-line formatted string. The end of
    the line closes this string and everything inside it.
    """

    what: str
    offset: int
    line_text: int | None


class _Lexer:
    def __init__(self, source: Source, mistakes: Collector) -> None:
        self.source = source
        self.text = source.text
        self.mistakes = mistakes
        self.lexed = Lexed()
        self.tokens = self.lexed.tokens
        self.position: int = 0
        self.open: list[_Open] = []
        self.indents = [0]
        self.at_line_start = True
        # The lines with an unclosed string, which may contain a closing bracket.
        self.unclosed_texts: set[int] = set()
        # Invalid characters that were already reported, each with its line.
        self.meaningless: set[tuple[str, int]] = set()
        # The offsets of prompts for which a stray `$` was reported.
        self.strays: set[int] = set()

    def run(self) -> None:
        shebang = SHEBANG.match(self.text)
        self.position = 0 if shebang is None else shebang.end()
        while True:
            self.read()
            if not self.open or self.mistakes.is_full:
                break
            self._resume_after_unclosed()
        end = len(self.text)
        if self.tokens and self.tokens[-1].kind not in ("NEWLINE", "DEDENT"):
            self._add("NEWLINE", end, end)
        for _ in self.indents[1:]:
            self._add("DEDENT", end, end)

    def ends_in_words(self) -> bool:
        """True if the text ends inside a string, a comment or the text of a prompt."""
        end = len(self.text)
        if self._is_in("$") or any(one.span.end == end for one in self.lexed.comments[-1:]):
            return True
        return any(
            one.kind == "STRING"
            and one.span.end == end
            and self.source.line_of(one.span.start) in self.unclosed_texts
            for one in self.tokens[-1:]
        )

    def read(self) -> None:
        """Reads the text to its end, or until `mistakes` is full."""
        text, length = self.text, len(self.text)
        match_code = _CODE.match
        while self.position < length and not self.mistakes.is_full:
            if self.at_line_start:
                self._indentation()
                continue
            match = match_code(text, self.position)
            if match is None:
                self._invalid_character()
                continue
            group = match.lastgroup or ""
            start, end = match.span(group)
            self.position = end
            if group == "name":
                self._name(match[group], start, end)
            elif group == "operator" and match[group] == ":" and self._is_in(_FORMAT_HOLE):
                self._specification(start)
            elif group == "operator":
                self._add(OPERATORS[match[group]], start, end)
            elif group == "opening":
                self._opening(match[group], start, end)
            elif group == "closing":
                self._close(match[group], start, end)
            elif group == "newline":
                self._newline(start, end)
            elif group == "number":
                self._number(match[group], start)
            elif group == "comment":
                self._comment(match[group], start, end)
            elif group == "text":
                self._string(match[group], start)
            elif group == "format":
                self._open(match[group], start)
                self._add("FORMAT_START", start, end)
                self._format(match[group])
            elif group == "prompt":
                self._open("$", start)
                self._add("PROMPT_START", start, end)
                self._prompt()

    # Lines and blocks

    def _indentation(self) -> None:
        text = self.text
        start = self.position
        blanks = _BLANKS.match(text, start)
        assert blanks is not None
        end = self.position = blanks.end()
        if end == len(text) or text[end] == "\n":
            self.position = min(end + 1, len(text))
            return
        if text.startswith("//", end):
            stop = self._line_end(end)
            self._comment(text[end:stop], end, stop)
            self.position = min(stop + 1, len(text))
            return
        self.at_line_start = False
        if "\t" in text[start:end]:
            tab = start + text[start:end].index("\t")
            self._report(catalogue.TAB_INDENTATION, tab, tab + 1, hint="indent with spaces")
        self._indent_to(len(text[start:end].expandtabs(4)), start, end)

    def _indent_to(self, width: int, start: int, end: int) -> None:
        if width > self.indents[-1]:
            self.indents.append(width)
            if len(self.indents) == MOST_BLOCKS + 2:
                self._report(catalogue.TOO_DEEP, start, end, what="blocks", limit=MOST_BLOCKS)
            self._add("INDENT", start, end)
            return
        while width < self.indents[-1]:
            self.indents.pop()
            self._add("DEDENT", end, end)
        if width != self.indents[-1]:
            self._report(
                catalogue.INDENTATION,
                start,
                end,
                hint=f"the block around it is indented by {self.indents[-1]}",
            )

    def _newline(self, start: int, end: int) -> None:
        if self.open:
            if self.open[-1].line_text is not None:
                self._unclosed_format(self.open[-1].line_text)
            return
        if self.tokens and self.tokens[-1].kind not in LAYOUT:
            self._add("NEWLINE", start, end)
        self.at_line_start = True

    def _comment(self, text: str, start: int, end: int) -> None:
        line_start = self.source.line_start(self.source.line_of(start))
        is_trailing = bool(self.text[line_start:start].strip())
        self._unreadable(start, end)
        self.lexed.comments.append(Comment(Span(start, end), text.rstrip(), is_trailing))

    # Words, numbers, operators

    def _name(self, text: str, start: int, end: int) -> None:
        kind = self._kind_of_word(text) if text in _WORDS else "NAME"
        self.tokens.append(Token(kind, text, Span(start, end)))

    def _kind_of_word(self, text: str) -> str:
        previous = self.tokens[-1].kind if self.tokens else "NEWLINE"
        if text in KEYWORDS:
            return "NAME" if previous == "DOT" else KEYWORDS[text]
        return SOFT_KEYWORDS[text] if self._is_soft_keyword(text, previous) else "NAME"

    def _is_soft_keyword(self, text: str, previous: str) -> bool:
        following = _CODE.match(self.text, self.position)
        what = following.lastgroup if following else None
        if text in ("do", "program"):
            return what == "prompt"
        if text == "stream":
            return _STREAMED.match(self.text, self.position) is not None
        if text == "with":
            return previous == "PROMPT_END" or self._is_behind_after(previous)
        if text == "after":
            is_behind_options = len(self.tokens) > 1 and self.tokens[-2].kind == "WITH"
            return previous in ("PROMPT_END", "RBRACE") or is_behind_options
        if self.open:
            return False
        if text == "mcp":
            return previous == "FROM" and following is not None and following.group() == "("
        if text in ("try", "except", "fail"):
            return self._is_about_failures(text, previous, following)
        begins_statement = previous in LAYOUT
        if text == "from" and begins_statement and _RELATIVE.match(self.text, self.position):
            return True
        if text in ("f", "type", "conv", "from") or (text == "import" and begins_statement):
            return begins_statement and what == "name"
        # `import` and `as` inside an import line.
        if text == "import" and self._line_begins_with(("FROM",)):
            return True
        return what == "name" and self._line_begins_with(("FROM", "IMPORT"))

    def _is_about_failures(self, text: str, previous: str, following: re.Match[str] | None) -> bool:
        """True if `text` begins a statement `try:`, `except:`, `except error:` or `fail value`."""
        what = following.lastgroup if following else None
        shown = following[what] if following and what else ""
        is_name = what == "name" and shown not in _BEHIND_VALUES
        stands_apart = following is not None and following.start(what or 0) > self.position
        if text == "fail":
            # `fail(x)` is the call of a function with this name.
            begins_value = is_name or what in ("text", "format", "number", "prompt")
            applied = _APPLIED.match(self.text, self.position) if stands_apart else None
            return previous in (*LAYOUT, "COLON") and (begins_value or applied is not None)
        # A list of classes after `except`, and a missing colon, are mistakes with their own
        # messages.
        is_mistaken = what == "newline" or (text == "except" and stands_apart and shown == "(")
        is_named = text == "except" and is_name
        return previous in LAYOUT and (shown == ":" or is_named or is_mistaken)

    def _is_behind_after(self, previous: str) -> bool:
        """True if the last token may end the expression after a prompt's `after`."""
        depth = 0
        for token in reversed(self.tokens if previous in _ENDS_AFTER else ()):
            if token.kind in ("RPAR", "RSQB", "RBRACE"):
                depth += 1
            elif token.kind in ("LPAR", "LSQB", "LBRACE"):
                depth -= 1
                if depth < 0:
                    return False
            elif depth == 0 and token.kind not in ("NAME", "DOT", "INTEGER"):
                return token.kind == "AFTER"
        return False

    def _line_begins_with(self, kinds: tuple[str, ...], before: int | None = None) -> bool:
        """True if the line up to here, or up to `before`, begins with a token of these kinds."""
        for position in range(len(self.tokens) - 1, -1, -1):
            earlier = self.tokens[position]
            if before is not None and earlier.span.start >= before:
                continue
            if earlier.kind in kinds:
                return True
            is_server = earlier.kind == "LPAR" and self.tokens[position - 1].kind == "MCP"
            if earlier.kind in ("NEWLINE", "INDENT", "DEDENT", "ASSIGN", "LPAR") and not is_server:
                return False
        return False

    def _number(self, text: str, start: int) -> None:
        if self.tokens and self.tokens[-1].kind == "DOT" and self.tokens[-1].span.end == start:
            # `pair.0.1`: members of a tuple, not the float `0.1`.
            digits = _DIGITS.match(text)
            if digits:
                text = digits.group()
        end = start + len(text)
        self.position = end
        match = _NUMBER.fullmatch(text)
        if match is None:
            hint = self._thousands(text, start) or _number_hint(text)
            self._report(catalogue.INVALID_NUMBER, start, end, text=_shortened(text), hint=hint)
            kind = "INTEGER"
            text = "0"
        elif match["float"]:
            kind = "FLOAT"
        else:
            kind = "INTEGER"
            if len(text) > LONGEST_INTEGER:
                self._report(
                    catalogue.INVALID_NUMBER,
                    start,
                    end,
                    text=_shortened(text),
                    hint=f"an integer has at most {LONGEST_INTEGER} digits",
                )
                text = "0"
        self.tokens.append(Token(kind, text, Span(start, end)))

    def _thousands(self, text: str, start: int) -> Hint | None:
        """Returns the hint for `1,000`, whose last part is `text`."""
        match [token.kind for token in self.tokens[-2:]]:
            case ["INTEGER", "COMMA"] if len(text) == 3 and text.isdecimal():
                whole = self.tokens[-2]
                number = f"{whole.text}_{text}"
                edit = Edit(Span(whole.span.start, start + 3), number)
                return Hint(f"write `{number}`", edits=(edit,))
            case _:
                return None

    def _opening(self, text: str, start: int, end: int) -> None:
        begins_statement = not self.tokens or self.tokens[-1].kind in LAYOUT
        self._open(text, start)
        self._add(
            "PATTERN_START" if text == "{" and begins_statement else OPERATORS[text], start, end
        )

    def _open(self, what: str, start: int) -> None:
        outer = self.open[-1].line_text if self.open else None
        own = len(self.open) if what == 'f"' else None
        self.open.append(_Open(what, start, own if outer is None else outer))
        if len(self.open) == MOST_BRACKETS + 1:
            self._report(catalogue.TOO_DEEP, start, start + 1, what="brackets", limit=MOST_BRACKETS)

    def _close(self, text: str, start: int, end: int) -> None:
        opened, offset = self.open[-1][:2] if self.open else ("", 0)
        if text == "}" and opened == _FORMAT_HOLE:
            self.open.pop()
            self._add("FORMAT_HOLE_END", start, end)
            self._format(self.open[-1][0])
            return
        if text == "}" and opened == "hole":
            self.open.pop()
            self._add("HOLE_END", start, end)
            self._prompt()
            return
        if not opened:
            self._report(catalogue.UNOPENED_BRACKET, start, end, bracket=text)
            return
        if CLOSER_OF.get(opened) != text:
            is_hole = opened in ("hole", _FORMAT_HOLE)
            shown = "{" if is_hole else opened
            self._report(
                catalogue.MISMATCHED_BRACKET,
                start,
                end,
                bracket=text,
                opened=shown,
                related=(Related(Span(offset, offset + 1), "opened here"),),
            )
            if is_hole:
                return
            text = CLOSER_OF[opened]
        self.open.pop()
        self.tokens.append(Token(OPERATORS[text], text, Span(start, end)))

    # Strings and prompts

    def _string(self, quote: str, start: int) -> None:
        pattern = _LINE_TEXT if quote == '"' else _BLOCK_TEXT
        match = pattern.match(self.text, self.position)
        assert match is not None
        end = match.end()
        if not self.text.startswith(quote, end):
            if self.open and self.open[-1].line_text is not None:
                # This quote closes the formatted string around it, whose hole is unclosed.
                self._unclosed_format(self.open[-1].line_text)
                return
            end = self._line_end(start)
            self.unclosed_texts.add(self.source.line_of(start))
            hint = 'write a text of several lines in `"""`'
            self._report(
                catalogue.UNTERMINATED_STRING, start, end, hint=hint if quote == '"' else None
            )
            # It is unknown where a text of several lines was meant to end.
            end = end if quote == '"' else len(self.text)
            self.position = end
            self.tokens.append(Token("STRING", "", Span(start, end)))
            return
        self.position = end + len(quote)
        raw = match.group()
        self._unreadable(match.start(), match.end())
        self._bad_escapes(raw, match.start())
        value = string_value(raw if quote == '"' else without_margin(raw))
        self.tokens.append(Token("STRING", value, Span(start, self.position)))

    # Formatted strings

    def _is_in(self, what: str) -> bool:
        """True if the innermost open bracket, prompt or hole is of this kind."""
        return bool(self.open) and self.open[-1][0] == what

    def _format(self, quote: str) -> None:
        """Reads the text of a formatted string up to its next hole or its end."""
        pattern = _FORMAT_LINE if quote == 'f"' else _FORMAT_BLOCK
        while self.position < len(self.text) and not self.mistakes.is_full:
            start = self.position
            match = pattern.match(self.text, start)
            if match is not None:
                self.position = match.end()
                self._unreadable(start, match.end())
                self._bad_escapes(match.group(), start)
                self._add("FORMAT_TEXT", start, match.end())
            elif self.text.startswith(quote[1:], start):
                self.open.pop()
                self.position = start + len(quote) - 1
                self._add("FORMAT_END", start, self.position)
                return
            elif self.text[start] == "{":
                self.position = start + 1
                self._open(_FORMAT_HOLE, start)
                self._add("FORMAT_HOLE_START", start, start + 1)
                return
            elif self.text[start] == "}":
                self.position = start + 1
                hint = "write `}}` for a brace in the text"
                what = "a formatted string"
                self._report(catalogue.STRAY_BRACE, start, start + 1, what=what, hint=hint)
            else:
                break
        if not self.mistakes.is_full:
            self._unclosed_format(len(self.open) - 1)

    def _specification(self, start: int) -> None:
        """Reads the format of a hole, from its colon to the closing brace."""
        match = _SPECIFICATION.match(self.text, start)
        assert match is not None
        self.position = match.end()
        self._add("FORMAT_SPEC", start, match.end())
        if self.text.startswith("{", match.end()):
            hint = "the format is written out: `{x:>10}`"
            self._report(
                catalogue.UNEXPECTED,
                match.end(),
                match.end() + 1,
                expected="`}`",
                found="`{`",
                hint=hint,
            )
            end = self.text.find("}", match.end(), self._line_end(match.end()))
            self.position = match.end() if end < 0 else end + 1

    def _unclosed_format(self, position: int) -> None:
        """Reports an unclosed formatted string, or the unclosed hole in it.

        An empty string replaces the formatted string, and the lexer resumes below. `position` is
        the string's index in the stack.
        """
        quote, start, _ = self.open[position]
        is_line = quote == 'f"'
        line_end = self._line_end(start)
        self.unclosed_texts.add(self.source.line_of(start))
        inner = self.open[position + 1 : position + 2]
        if inner:
            offset = inner[0].offset
            hint = "`{{` is a brace in the text"
            self._report(catalogue.UNCLOSED_BRACKET, offset, offset + 1, bracket="{", hint=hint)
        else:
            hint = 'write a text of several lines in `f"""`' if is_line else None
            self._report(catalogue.UNTERMINATED_STRING, start, line_end, hint=hint)
        del self.open[position:]
        while self.tokens and self.tokens[-1].span.end > start:
            self.tokens.pop()
        self.position = line_end if is_line or inner else len(self.text)
        self.tokens.append(Token("STRING", "", Span(start, self.position)))

    def _bad_escapes(self, raw: str, offset: int) -> None:
        for match in ESCAPE.finditer(raw):
            is_unknown = match[1] is None and match[2] not in ESCAPES
            if is_unknown or is_half(match[1]):
                hint = "half of a surrogate pair is not a character"
                if is_unknown:
                    hint = 'the escapes are \\n \\t \\r \\" \\\\ \\u00e9'
                self._report(
                    catalogue.INVALID_ESCAPE,
                    offset + match.start(),
                    offset + match.end(),
                    escape=match.group().replace("\n", " "),
                    hint=hint,
                )

    def _prompt(self) -> None:
        """Reads the text of a prompt up to its next hole or its end."""
        while self.position < len(self.text) and not self.mistakes.is_full:
            start = self.position
            match = _PROMPT_TEXT.match(self.text, start)
            if match is not None:
                self.position = match.end()
                self._unreadable(start, match.end())
                self._add("PROMPT_TEXT", start, match.end())
                continue
            end = self.position = start + 1
            character = self.text[start]
            if character == "$" and self._is_stray(start):
                self._stray_dollar(start)
                continue
            if character == "$":
                self.open.pop()
                self._add("PROMPT_END", start, end)
                return
            if character == "{":
                self._open("hole", start)
                self._add("HOLE_START", start, end)
                return
            if character == "}":
                hint = r"write `\}` for a brace in the text"
                self._report(catalogue.STRAY_BRACE, start, end, what="a prompt", hint=hint)

    # A `$` that was meant as text

    def _is_stray(self, offset: int) -> bool:
        """True if a `$` in a prompt is part of the text, and does not end the prompt.

        The `$` is text if the code after it cannot follow a prompt, and if another `$` comes later.
        """
        following = offset + 1
        between = self.text[following : self._line_end(following)]
        between, dollar, _ = between.partition("$")
        # A `$` after the end of the hole around this prompt belongs to the outer prompt.
        hole_end = _unopened_brace(between)
        if hole_end is not None:
            between, dollar = between[:hole_end], ""
        # A dollar sign in a string or a comment begins no prompt.
        is_alone = not dollar or "//" in between or '"' in between
        inner = _AFTER_INNER_PROMPT.match(between)
        if inner and len(self.open) > 1:
            return False
        if is_alone or _BEFORE_PROMPT.search(between):
            if _AFTER_PROMPT.match(between):
                return False
            if inner and self._takes(inner.group().strip()):
                return False
        begin = self.open[-1][1]
        end = self.text.find("$", following)
        if end < 0:
            return False
        if self.source.line_of(begin) == self.source.line_of(offset):
            return self.source.line_of(end) == self.source.line_of(offset)
        return self._is_indented(begin, offset, end)

    def _takes(self, character: str) -> bool:
        """True if this character after the end of a prompt continues the statement."""
        kinds = tuple(_GOES_ON_BEHIND.get(character, ()))
        return self._line_begins_with(kinds, before=self.open[-1][1])

    def _is_indented(self, begin: int, start: int, end: int) -> bool:
        """True if all lines between two offsets are indented deeper than the line of `begin`.

        The last line, with the `$` that closes the prompt, may be indented less.
        """
        first = self.source.line_text(self.source.line_of(begin))
        width = len(first) - len(first.lstrip())
        lines = self.text[start:end].split("\n")[1:-1]
        return all(not line.strip() or len(line) - len(line.lstrip()) > width for line in lines)

    def _stray_dollar(self, offset: int) -> None:
        """Turns a stray `$` into prompt text, and reports the first stray `$` of each prompt."""
        begin = self.open[-1][1]
        self._add("PROMPT_TEXT", offset, offset + 1)
        if begin in self.strays:
            return
        self.strays.add(begin)
        self._report(
            catalogue.STRAY_DOLLAR,
            offset,
            offset + 1,
            hint=r"`\$` is a dollar sign in the text",
            related=(Related(Span(begin, begin + 1), "it begins here"),),
        )

    # Mistakes

    def _invalid_character(self) -> None:
        start = self.position
        self.position += 1
        character = self.text[start]
        if _UNREADABLE.match(character):
            self._unreadable(start, start + 1)
            return
        # A comment or string in another language's syntax is reported only at its first character.
        if character in "#@":
            self.position = self._line_end(start)
        elif self.text.startswith("'''", start):
            closing = self.text.find("'''", start + 3)
            self.position = self._line_end(start) if closing < 0 else closing + 3
        elif character in CLOSING_QUOTES:
            closing = self.text.find(CLOSING_QUOTES[character], start + 1, self._line_end(start))
            self.position = max(self.position, closing + 1)
        elif self.text.startswith(character, start + 1):
            self.position += 1
        while character.isalpha() and self.text[self.position : self.position + 1].isalnum():
            self.position += 1  # the rest of the name
        self._no_meaning(start)

    def _no_meaning(self, offset: int) -> None:
        character = self.text[offset]
        place = (character, self.source.line_of(offset))
        if place in self.meaningless:
            return
        self.meaningless.add(place)
        shown = f"`{character}`" if character.isprintable() else f"U+{ord(character):04X}"
        self._report(
            catalogue.INVALID_CHARACTER,
            offset,
            offset + 1,
            character=_BLANK_NAMES.get(character, shown),
            hint=self._hint_of(offset),
        )

    def _hint_of(self, offset: int) -> str | Hint | None:
        if _CONVERSION.match(self.text, offset) and self._is_in(_FORMAT_HOLE):
            return "a value is inserted as `str(x)`; `json(x)` puts a string in quotes"
        if _CONVERSION.match(self.text, offset) and self._is_in("hole"):
            return "a value is inserted as JSON; `{name:raw}` inserts a string unchanged"
        character = self.text[offset]
        line = self.source.line_text(self.source.line_of(offset))
        if character == ";" and line.lstrip().startswith("for "):
            return "write `for i in range(n):`"
        if character == ";" and self.open:
            return Hint("separate them with `,`", edits=(Edit(Span(offset, offset + 1), ","),))
        hint = CHARACTERS.get(character)
        if hint is None and character.isalpha():
            return "a name has letters from a to z, digits and `_`"
        if hint is None or character not in INSTEAD:
            return hint
        # `&&` is one operator.
        is_doubled = character == "&" and self.text.startswith("&&", offset)
        end = offset + (2 if is_doubled else 1)
        text = INSTEAD[character]
        if text.isalpha() and self.text[end : end + 1] not in (" ", "\n"):
            text += " "
        return Hint(hint, edits=(Edit(Span(offset, end), text),))

    def is_of_another_kind(self) -> bool:
        """True if many bytes of the file are not UTF-8 text. Reports these bytes as one mistake."""
        bad = _NO_TEXT.findall(self.text)
        if len(bad) <= _FEW_BYTES:
            return False
        offset = self.text.index(bad[0])
        hint = f"{len(bad):,} bytes are not text: is this a script, and saved as UTF-8?"
        if bad[0] == "\0":
            code = catalogue.INVALID_CHARACTER
            self._report(code, offset, offset + 1, character="U+0000", hint=hint)
        else:
            byte = ord(bad[0]) - 0xDC00
            self._report(catalogue.INVALID_UTF8, offset, offset + 1, byte=byte, hint=hint)
        return True

    def _unreadable(self, start: int, end: int) -> None:
        """Reports the first invalid character between two offsets."""
        match = _UNREADABLE.search(self.text, start, end)
        if match is None:
            return
        offset, number = match.start(), ord(match.group())
        if 0xDC80 <= number <= 0xDCFF:
            byte, hint = number - 0xDC00, "save the file as UTF-8"
            self._report(catalogue.INVALID_UTF8, offset, offset + 1, byte=byte, hint=hint)
        else:
            self._no_meaning(offset)

    def _resume_after_unclosed(self) -> None:
        """Reports the outermost unclosed bracket, prompt or string. Resumes below its line."""
        # An unclosed prompt explains more than a hole or bracket inside it.
        what, offset, _ = self.open[0]
        if what.startswith("f"):
            self._unclosed_format(0)
            return
        inner = self.open[1:2]
        hole_end = self._line_end(inner[0].offset) if inner else 0
        if inner and inner[0].what == "hole" and "}" not in self.text[inner[0].offset : hole_end]:
            start = inner[0].offset
            hint = r"close it: `{name}`; `\{` is a brace in the text"
            self._report(catalogue.UNCLOSED_BRACKET, start, start + 1, bracket="{", hint=hint)
        elif what == "$":
            self._report(
                catalogue.UNTERMINATED_PROMPT,
                offset,
                offset + 1,
                hint=r"a prompt ends with `$`; `\$` is a dollar sign in its text",
            )
        elif self.source.line_of(offset) not in self.unclosed_texts:
            self._report(
                catalogue.UNCLOSED_BRACKET,
                offset,
                offset + 1,
                bracket=what,
                hint=DIVISION_HINT
                if swallows(self.lexed.comments, offset)
                else f"close it with `{CLOSER_OF[what]}`",
            )
        line_end = self._line_end(offset) if what != "$" else self._prompt_end(offset)
        # A token that ends where it begins is a DEDENT.
        while self.tokens and self.tokens[-1].span.end > offset:
            self.tokens.pop()
        comments = self.lexed.comments
        while comments and comments[-1].span.start >= offset:
            comments.pop()
        self.open.clear()
        self.tokens.append(Token("UNCLOSED", self.text[offset:line_end], Span(offset, line_end)))
        self._add("NEWLINE", line_end, line_end)
        self.position = min(line_end + 1, len(self.text))
        self.at_line_start = True

    def _prompt_end(self, begin: int) -> int:
        """Returns the offset where an unclosed prompt was probably meant to end.

        This is the end of the line with the opening `$`, if text follows the `$`. Otherwise it is
        the end of the indented lines below, or of a line that consists of `$`.
        """
        end = self._line_end(begin)
        if self.text[begin + 1 : end].strip():
            return end
        first = self.source.line_text(self.source.line_of(begin))
        width = len(first) - len(first.lstrip())
        while end < len(self.text):
            below = self._line_end(end + 1)
            line = self.text[end + 1 : below]
            if line.strip() == "$":
                return below
            if line.strip() and len(line) - len(line.lstrip()) <= width:
                return end
            end = below
        return end

    def _line_end(self, offset: int) -> int:
        end = self.text.find("\n", offset)
        return len(self.text) if end < 0 else end

    def _report(
        self,
        code: Code,
        start: int,
        end: int,
        *,
        hint: str | Hint | None = None,
        related: tuple[Related, ...] = (),
        **words: object,
    ) -> None:
        found = code.at(Span(start, end), hint=hint, related=related, lines=(), **words)
        self.mistakes.add(found)

    def _add(self, kind: str, start: int, end: int) -> None:
        self.tokens.append(Token(kind, self.text[start:end], Span(start, end)))


def _number_hint(text: str) -> str | Hint | None:
    """Returns a hint with the decimal notation of a number that is written as in other languages.

    If `text` is no such number, it may have been meant as a name or a string.
    """
    digits = text.rstrip("_lLuU").replace("__", "_")
    if len(digits) > LONGEST_INTEGER:
        return None
    if _NUMBER.fullmatch(digits):
        return Hint(f"write `{digits}`", instead=digits)
    if digits.isdecimal():
        number = str(int(digits))
        return Hint(f"write `{number}`", instead=number)
    with suppress(ValueError):
        number = str(int(digits, 0))
        return Hint(f"numbers are decimal: write `{number}`", instead=number)
    return "a name begins with a letter; a string is in double quotes"


def _shortened(text: str) -> str:
    return text if len(text) <= 30 else text[:30] + "…"


def _unopened_brace(text: str) -> int | None:
    """Returns the index of the first `}` without a matching `{`, or None if all braces match."""
    depth = 0
    for match in _BRACE.finditer(text):
        depth += 1 if match.group() == "{" else -1
        if depth < 0:
            return match.start()
    return None
