"""The house's words: what people read says it in plain English, and in the words of the field.

Read are the pages without their blocks of code, the help of the commands, and the messages in the
sources. A phrase has the better word beside it; where a phrase is right, `ALLOWED` says why.
"""

import ast
import re
from collections.abc import Iterator
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


def sentences(source: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module that its users may read, each with its line."""
    written = source.read_text(encoding="utf-8")
    if not PHRASE.search(written):
        return
    tree = ast.parse(written)
    is_help = source.name == "cli.py"
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    hidden = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and isinstance(node.body[0], ast.Expr)
        if not is_help or not isinstance(node, ast.FunctionDef)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text), lineno=line) if id(node) not in hidden:
                yield line, text
            case _:
                pass


def better(text: str) -> Iterator[str]:
    """What is to be said otherwise in a text, and how."""
    for match in PHRASE.finditer(text):
        if not any(match[0] in one and one in text for one in ALLOWED):
            word = next(
                word for one, word in INSTEAD.items() if re.match(rf"\b(?:{one})", match[0], re.I)
            )
            yield f"{match[0]!r} is {word!r}"


def test_pages() -> None:
    pages = [page for pattern in PAGES for page in sorted(ROOT.glob(pattern))]
    assert len(pages) > 100
    wrong = [
        f"{page.relative_to(ROOT)}:{number}: {said}: {line.strip()}"
        for page in pages
        for number, line in enumerate(prose(page).splitlines(), 1)
        for said in better(line)
    ]
    assert not wrong, "\n".join(wrong)


def test_messages_and_help() -> None:
    wrong = [
        f"{source.relative_to(ROOT)}:{number}: {said}: {text.strip()}"
        for package in ("saftc", "runtime_support")
        for source in sorted((ROOT / package).rglob("*.py"))
        for number, text in sentences(source)
        for said in better(text)
    ]
    assert not wrong, "\n".join(wrong)
