"""The compiler and the runtime take the same margin off a text, and leave all else as it is."""

import ast

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from runtime_support._core.templates import clean_template, parse_template
from saftc.syntax import nodes as n
from saftc.syntax.texts import dedent
from saftc.syntax.walk import nodes_of
from tests.compiler.support import compile_text
from tests.syntax.support import formatted
from tests.syntax.support import parsed as tree_of

pytestmark = pytest.mark.one_python

_TEXTS = st.text(alphabet=" \t\n\n\u3000\u00a0\x0b\x0c\x1c\x85\u2028ab", max_size=24)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\n\ta\n  two\n    three\n", "\ta\n  two\n    three"),
        ("\n\ta\n\t\tb\n", "a\n\tb"),
        ("\n \ta\n \tb\n", "a\nb"),
        ("\n \ta\n  b\n", "\ta\n b"),
        ("\n  \u3000a\n  \u3000b\n", "\u3000a\n\u3000b"),
        ("\u3000a", "\u3000a"),
        ("\n\u00a0\n  a\u00a0\n", "\u00a0\n  a\u00a0"),
        ("\n  a\n \t \n  b\n", "a\n\nb"),
        ("\t first\n    second", "first\nsecond"),
    ],
)
def test_a_margin_is_what_all_lines_begin_with(text: str, expected: str) -> None:
    assert dedent(text) == expected
    assert clean_template(text) == expected


@settings(max_examples=400, deadline=None)
@given(_TEXTS)
def test_both_take_off_the_same(text: str) -> None:
    assert dedent(text) == clean_template(text)


@settings(max_examples=100, deadline=None)
@given(_TEXTS)
@example("\n\ta\n  two\n    three\n")
@example("\n\u3000a\n\u3000b\n")
def test_a_prompt_is_sent_as_the_tree_has_it(text: str) -> None:
    for script in (f"x = $a{text}b$\n", f"f g():\n    ret $\n{text}b{text}\n$\n"):
        compiled = compile_text(script)
        (prompt,) = nodes_of(compiled.checked.module, n.Prompt)
        assert compiled.text is not None
        (template,) = [
            one.args[0].value
            for one in ast.walk(ast.parse(compiled.text))
            if isinstance(one, ast.Call)
            and isinstance(one.func, ast.Name)
            and one.func.id == "prompt"
            and isinstance(one.args[0], ast.Constant)
        ]
        assert isinstance(template, str)
        assert [*parse_template(template).parts] == [
            part.text for part in prompt.parts if isinstance(part, n.PromptText)
        ]


@settings(max_examples=100, deadline=None)
@given(_TEXTS)
def test_the_formatter_keeps_texts(text: str) -> None:
    script = f'f g():\n    x = """a{text}b"""\n    ret $\n{text}b\n$\n'
    before, after = tree_of(script), tree_of(formatted(script))
    assert before is not None
    assert after is not None
    assert _texts(before) == _texts(after)


def _texts(module: n.Module) -> list[object]:
    return [
        node.text if isinstance(node, n.PromptText) else node.value
        for node in nodes_of(module, n.PromptText, n.Literal)
    ]
