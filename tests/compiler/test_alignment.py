"""Nothing is half there: rules, nodes, builder, walk, cases, codes and runtime names agree."""

import dataclasses
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import runtime_support
import saftc.syntax
from runtime_support import ops, programs
from saftc.codegen.imports import SOURCES
from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Collector
from saftc.source import Span
from saftc.syntax import nodes
from saftc.syntax.builder import Builder
from saftc.syntax.constructs import CONSTRUCTS
from saftc.syntax.parser import parse
from saftc.syntax.tokens import KEYWORDS, OPERATORS, SOFT_KEYWORDS
from saftc.syntax.walk import walk
from saftc.types.builtins import BUILTINS
from tests.compiler.support import CASES, ROOT, all_cases, compiled_cases

pytestmark = pytest.mark.one_python

# Rules that only carry the parts of another rule's node.
_PARTS = {
    "statement": "any statement",
    "block": "the body of its statement",
    "parameters": "parameter",
    "pattern_fields": "pattern_field",
    "elif_branch": "if_stmt",
    "else_branch": "if_stmt",
    "unpack_targets": "unpack_stmt",
    "schema_items": "tuple_schema",
    "schema_fields": "schema_field",
    "grouped_schema": "the schema inside",
    "grouped_pattern": "the pattern inside",
    "grouped": "the expression inside",
    "comparator": "comparison",
    "arguments": "argument",
    "items": "tuple_literal",
    "list_items": "list_literal",
    "fields": "field",
    "dotted_name": "import_stmt, from_import",
    "relative_name": "from_import",
}
# Nodes that come from tokens or from the whole, not from a rule of their name.
_WITHOUT_RULE = {"Node", "Identifier", "Module", "Branch", "PromptText", "FormatText"}
_WITHOUT_RULE |= {"ServerCall"}  # stands in no script
# Folders of cases that are not about one rule.
_OTHER_FOLDERS = {"async", "overlap", "builtins", "diagnostics", "module"}


def _camel(rule: str) -> str:
    return "".join(word.capitalize() for word in rule.split("_"))


@cache
def _rules() -> frozenset[str]:
    """The names under which the grammar builds something: rules and aliases."""
    text = (Path(saftc.syntax.__file__).parent / "grammar.lark").read_text(encoding="utf-8")
    text = re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)
    aliases = set(re.findall(r"->\s*([a-z_]+)", text))
    kept = set(re.findall(r"^([a-z_]+)\s*:", text, flags=re.MULTILINE))
    inlined_with_many = {
        name
        for name, body in re.findall(
            r"^\?([a-z_]+):(.*?)(?=^\??[a-z_]+:|^%|\Z)", text, flags=re.MULTILINE | re.DOTALL
        )
        if any(_has_many_parts(line) for line in body.split("\n") if "->" not in line)
    }
    return frozenset(aliases | kept | inlined_with_many)


def _has_many_parts(alternative: str) -> bool:
    parts = alternative.replace("|", " ").split()
    return len(parts) > 1


def _node_rules() -> list[str]:
    return sorted(_rules() - set(_PARTS))


@cache
def _parsed() -> dict[str, nodes.Module]:
    return {case.name: parse(case.source(), Collector()) for case in all_cases()}


def _node_kinds() -> set[str]:
    return {
        name
        for name, value in vars(nodes).items()
        if isinstance(value, type) and issubclass(value, nodes.Node)
    }


def test_each_rule_has_a_builder_method() -> None:
    methods = {name for name in vars(Builder) if not name.startswith("_")}
    assert methods == _rules()


def test_each_rule_has_a_node_and_each_node_a_rule() -> None:
    rules = {_camel(rule) for rule in _node_rules()}
    assert rules == _node_kinds() - _WITHOUT_RULE


@pytest.mark.parametrize("rule", _node_rules())
def test_each_rule_has_cases_that_use_it(rule: str) -> None:
    kind = getattr(nodes, _camel(rule))
    cases = [module for name, module in _parsed().items() if name.startswith(f"{rule}/")]
    assert cases, f"no case in tests/cases/{rule}"
    assert any(isinstance(node, kind) for module in cases for node in walk(module))


def test_each_folder_of_cases_is_a_rule() -> None:
    folders = {path.name for path in CASES.iterdir() if path.is_dir()}
    assert folders <= set(_node_rules()) | _OTHER_FOLDERS


def test_each_case_says_something() -> None:
    for case in all_cases():
        assert case.out.exists() or case.errors.exists(), case.name


def test_walk_reaches_every_node_in_order() -> None:
    for name, module in _parsed().items():
        walked = list(walk(module))
        assert set(walked) == set(_below(module)), name
        assert len(walked) == len(set(walked)), name


def test_nodes_hold_no_parts_of_rules() -> None:
    """Tokens, and what only carries the parts of a rule, end where the node is made."""
    for name, module in _parsed().items():
        for node in _below(module):
            for field in dataclasses.fields(node):
                value = getattr(node, field.name)
                parts = value if type(value) is tuple else (value,)
                for part in parts:
                    is_plain = not isinstance(part, tuple | list) or isinstance(part, Span)
                    assert is_plain, f"{name}: {node}.{field.name}"


def test_children_lie_inside_their_parents() -> None:
    for name in [case.name for case in compiled_cases()]:
        module = _parsed()[name]
        for node in walk(module):
            for child in _direct(node):
                inside = node.span.start <= child.span.start <= child.span.end <= node.span.end
                assert inside, f"{name}: {type(child).__name__} in {type(node).__name__}"


def test_each_word_and_operator_is_in_a_case() -> None:
    texts = [case.source().text for case in all_cases() if case.construct != "diagnostics"]
    whole = "\n".join(texts)
    for word in (*KEYWORDS, *SOFT_KEYWORDS):
        assert re.search(rf"\b{word}\b", whole), word
    for operator in OPERATORS:
        assert operator in whole, operator


def test_each_builtin_is_in_its_cases() -> None:
    scripts = [case.source().text for case in all_cases() if case.construct == "builtins"]
    used = set(re.findall(r"\b([a-z_]+)\(", "\n".join(scripts)))
    assert set(BUILTINS) <= used


@pytest.mark.parametrize("code", catalogue.ALL, ids=lambda code: code.number)
def test_each_code_has_a_case(code: catalogue.Code) -> None:
    name = next(name for name, value in vars(catalogue).items() if value is code)
    found = [
        path.read_text() for path in (CASES / "diagnostics" / name.lower()).rglob("errors.txt")
    ]
    assert any(f"[{code.number}]" in text for text in found), f"no case for {name}"


def test_each_folder_of_diagnostics_is_a_code() -> None:
    folders = {path.name for path in (CASES / "diagnostics").iterdir()}
    names = {name.lower() for name, value in vars(catalogue).items() if value in catalogue.ALL}
    assert folders <= names | {"several"}


def test_codes_are_unique_and_in_their_group() -> None:
    numbers = [code.number for code in catalogue.ALL]
    assert len(numbers) == len(set(numbers))
    for code in catalogue.ALL:
        assert re.fullmatch(r"SAFT0[1-6]\d\d", code.number)
        assert (code.severity != "error") == code.number.startswith("SAFT06")


@pytest.mark.parametrize("code", catalogue.ALL, ids=lambda code: code.number)
def test_each_code_has_a_page(code: catalogue.Code) -> None:
    page = ROOT / "saftc" / "diagnostics" / "pages" / f"{code.number}.md"
    assert page.read_text(encoding="utf-8").startswith(f"# {code.number}: ")
    overview = (ROOT / "docs" / "diagnostics" / "README.md").read_text(encoding="utf-8")
    assert f"pages/{code.number}.md)" in overview


def test_the_runtime_offers_what_the_output_imports() -> None:
    for name, module in SOURCES.items():
        if module.partition(".")[0] == "runtime_support":
            assert name in dir(import_module(module)), (module, name)
            assert "._" not in f"{module}.{name}"


def test_each_import_is_in_a_case() -> None:
    plans = (ROOT / "tests" / "programs" / "plans").glob("*.py")
    outs = [*(case.out for case in all_cases() if case.out.exists()), *plans]
    modules = [out.read_text(encoding="utf-8") for out in outs]
    lines = [line for text in modules for line in text.split("\n") if "import " in line]
    imported = set(re.findall(r"\w+", "\n".join(lines)))
    assert set(SOURCES) <= imported


def test_each_operation_is_in_the_runtime() -> None:
    modules = [case.out.read_text(encoding="utf-8") for case in all_cases() if case.out.exists()]
    used = {name for text in modules for name in re.findall(r"\bops\.(\w+)", text)}
    assert {name for name in used if not hasattr(ops, name)} == set()
    # As values, most are operations; some stand in the package itself, or among the programs.
    values = {name for name in BUILTINS if not hasattr(ops, name)}
    others = (runtime_support, programs)
    assert {name for name in values if not any(hasattr(one, name) for one in others)} == set()


def _direct(node: nodes.Node) -> Iterator[nodes.Node]:
    for field in dataclasses.fields(node):
        if not (isinstance(node, nodes.Module) and field.name == "docs"):
            values = _flat(getattr(node, field.name))
            yield from (value for value in values if isinstance(value, nodes.Node))


def _below(node: nodes.Node) -> Iterator[nodes.Node]:
    yield node
    for child in _direct(node):
        yield from _below(child)


def _flat(value: object) -> Iterator[object]:
    if isinstance(value, tuple | list):
        for item in value:
            yield from _flat(item)
    else:
        yield value


def test_every_kind_of_node_is_in_the_table_of_constructs() -> None:
    found = vars(nodes).values()
    kinds = {one for one in found if isinstance(one, type) and issubclass(one, nodes.Node)}
    assert kinds - {nodes.Node} == CONSTRUCTS.keys()
