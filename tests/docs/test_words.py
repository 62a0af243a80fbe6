"""The house's words: what people read says it in plain English, and in the words of the field.

Read are the pages without their blocks of code, the help of the commands, the messages in the
sources, and the texts of the page in the browser and of the editors. A phrase has the better word
beside it; where a phrase is right, `ALLOWED` says why.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.one_python

ROOT = Path(__file__).parents[2]
PAGES = (
    *("README.md", "CHANGELOG.md", "SECURITY.md", "CONTRIBUTING.md"),
    *("benchmarks/README.md", "examples/README.md", "saftc/lsp/builtins.md"),
    *("docs/*.md", "docs/diagnostics/*.md", "saftc/diagnostics/pages/*.md"),
    *("editors/README.md", "editors/*/README.md"),
)
FENCE = re.compile(r"^( *)```.*?^ *```$", re.MULTILINE | re.DOTALL)

# Texts of the page in the browser and of editors: all of each file but lines of comments.
PARTS = (
    *("saftc/play/page.html", "saftc/play/page.js", "editors/play/editor.js"),
    *("saftc/play/tour/*.saft", "saftc/play/examples/*.saft"),
    *("editors/vscode/package.json", "editors/vscode/src/*", "editors/nvim/**/*.lua"),
)

# Comments and strings; a docstring begins its line. Parts of a string on several lines are one.
LITERAL = re.compile(
    r'''(?P<comment>#[^\n]*)|(?P<docstring>(?<=\n)[ ]*r?"""(?s:.*?)""")|[rf]{0,2}"""(?s:.*?)"""'''
    r"""|[rf]{0,2}"(?:\\.|[^"\\\n])*"|[rf]{0,2}\'(?:\\.|[^\'\\\n])*\'"""
)
# Docstrings of commands are their help.
COMMANDS = ("app.py", "servers.py")
BROKEN = re.compile(r"""["']\n[ ]*[rf]{0,2}["'](?!")""")

INSTEAD = {
    r"(?<!there )(is|are|was|can be) no (?!longer|more|less)": "is not a ...",
    r"stands?(?! for\b)": "is, appears, comes",
    r"nobody|somebody": "name who acts",
    r"whoever": "anyone who",
    r"(is|are|was|were) told|told of|tells? of": "gets, learns; is reported",
    r"so many(?! that\b)": "as many; give the number",
    r"comes? to": "is, makes, returns",
    r"of (its|their|our) own": "its own ...",
    r"go(es)? over": "loops over, iterates over",
    r"(is|are|was) begun": "is started",
    r"(is|are) to (?!the\b)": "must, will",
    r"once more": "again",
    r"as ever": "as usual",
    r"beforehand": "before",
    r"command goes on": "run the same command again to resume",
    r"to (its|their) end": "until it ends, completely",
    r"thereby|therein|thereof|wherein|hitherto": "by this, in it",
}
PHRASE = re.compile("|".join(rf"\b(?:{one})\b" for one in INSTEAD), re.IGNORECASE)

# Where a phrase is right, and why.
ALLOWED = {
    "nothing nobody none": "words of a reply that deny",
}


def prose(page: Path) -> str:
    """The text of a page, with empty lines for its blocks and without code in a line."""
    text = FENCE.sub(lambda match: "\n" * match[0].count("\n"), page.read_text(encoding="utf-8"))
    return re.sub(r"`[^`\n]*`", "`...`", text)


def sentences(source: Path) -> Iterator[str]:
    """The texts of a module that its users may read: all but comments and docstrings."""
    written = source.read_text(encoding="utf-8")
    if PHRASE.search(written):
        for match in LITERAL.finditer("\n" + BROKEN.sub("", written)):
            is_docstring = match["docstring"] is not None and source.name not in COMMANDS
            if match["comment"] is None and not is_docstring:
                yield match[0]


def better(text: str) -> Iterator[str]:
    """What is to be said otherwise in a text, and how."""
    for match in PHRASE.finditer(text):
        if not any(match[0] in one and one in text for one in ALLOWED):
            word = next(
                word for one, word in INSTEAD.items() if re.match(rf"\b(?:{one})", match[0], re.I)
            )
            yield f"{match[0]!r} is {word!r}"


def wrong_lines(file: Path, lines: Iterable[tuple[int, str]]) -> list[str]:
    """The numbered lines of a file that are to be said otherwise, each with its place."""
    return [
        f"{file.relative_to(ROOT)}:{number}: {said}: {line.strip()}"
        for number, line in lines
        for said in better(line)
    ]


def test_pages() -> None:
    pages = [page for pattern in PAGES for page in sorted(ROOT.glob(pattern))]
    assert len(pages) > 100
    wrong = [
        told for page in pages for told in wrong_lines(page, enumerate(prose(page).splitlines(), 1))
    ]
    assert not wrong, "\n".join(wrong)
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert not re.search("^(<{7}|>{7}) ", text, re.MULTILINE), f"{page}: a merge has left marks"


def shown_lines(part: Path) -> Iterator[tuple[int, str]]:
    """The numbered lines of a part of the page or of an editor, without those of comments."""
    for number, line in enumerate(part.read_text(encoding="utf-8").splitlines(), 1):
        if not re.match(r"\s*(//|--|\*)", line) or part.suffix == ".saft":
            yield number, line


def test_the_page_and_editors() -> None:
    parts = [part for pattern in PARTS for part in sorted(ROOT.glob(pattern))]
    assert len(parts) > 20
    wrong = [told for part in parts for told in wrong_lines(part, shown_lines(part))]
    assert not wrong, "\n".join(wrong)


def test_messages_and_help() -> None:
    wrong = [
        f"{source.relative_to(ROOT)}: {said}: {text.strip()}"
        for package in ("saftc", "runtime_support")
        for source in sorted((ROOT / package).rglob("*.py"))
        for text in sentences(source)
        for said in better(text)
    ]
    assert not wrong, "\n".join(wrong)
