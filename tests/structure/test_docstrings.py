"""What docstrings name in backticks is in the code, the grammar, or the docstring's example."""

from __future__ import annotations

import ast
import builtins
import keyword
import re
import sys

import pytest

from tests.structure.modules import PACKAGES, ROOT

pytestmark = [pytest.mark.one_python, pytest.mark.heavy]

# Of scripts, libraries, replies and data that a docstring is about.
_OF_OTHERS = {
    *("Color.RED", "FieldInfo", "Interval", "Invoice", "MAILS", "MCPServer", "Order", "P1DT2H"),
    *("SAFT_TEMPERATURE", "UserRows", "__saft_return_due", "__saft_return_total"),
    *("_inst.choice", "a1b2c3d4e5", "ask_mail", "ask_mail_2", "ask_mail_3", "created_at"),
    *("goals", "invoice", "lastModifiedAt", "lib", "lib.util", "mail.name", "max_results"),
    *("max_x2d_results", "pepole", "read_invoice", "saft0203", "schemaId", "schema_id"),
    *("shop.Order", "shop.orders", "shop.schema", "ticket.title", "triage.urgent"),
    *("triage_async", "user_rows"),
}
_NAME = re.compile(r"`([A-Za-z_][\w.]*)(?:\(\))?`")


def test_names_in_backticks_are_there() -> None:
    known = {*dir(builtins), *keyword.kwlist, *sys.stdlib_module_names}
    known |= _words((ROOT / "saftc" / "syntax" / "grammar.lark").read_text(encoding="utf-8"))
    docstrings: list[tuple[str, str]] = []
    for package in PACKAGES:
        for file in (ROOT / package).rglob("*.py"):
            tree = ast.parse(file.read_text(encoding="utf-8"))
            place = file.relative_to(ROOT)
            parts = place.with_suffix("").parts
            known |= {*parts, *(part.lstrip("_") for part in parts), *_names(tree)}
            docstrings += [(f"{place}:{line}", text) for line, text in _docstrings(tree)]
    assert len(docstrings) > 1000
    unknown = {
        f"{place}: {name}"
        for place, text in docstrings
        for name in _NAME.findall(text)
        if name not in _OF_OTHERS and not _words(name) <= known | _words(_NAME.sub("", text))
    }
    assert unknown == set()


def _docstrings(tree: ast.Module) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node, clean=False)
            if text is not None:
                found.append((node.body[0].lineno, text))
    return found


def _names(tree: ast.Module) -> set[str]:
    """The names that a module uses or defines, and the words of its texts."""
    found: set[str] = set()
    docstrings = {text for _, text in _docstrings(tree)}
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                found.add(name)
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                found.add(name)
            case ast.AsyncFunctionDef(name=name) | ast.keyword(arg=str(name)):
                found.add(name)
            case ast.alias(name=name):
                found |= _words(name)
            case ast.Constant(value=str(text)) if text not in docstrings:
                found |= _words(text)
            case _:
                pass
    return found


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))
