"""Templates: what is sent for a template and its values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from runtime_support import CheckError, prompt
from runtime_support._core.templates import render
from runtime_support.testing import Scripted


def up(text: str) -> str:
    return text.upper()


def down(text: str) -> str:
    return text.lower()


def rendered(template: str, *values: Any, **names: Any) -> str:
    return render(template, values, names).text


def test_values_go_in_as_compact_json() -> None:
    people = [{"name": "Åse", "age": 3}, (1, None, True)]
    assert rendered("see {x}!", x=people) == 'see [{"name":"Åse","age":3},[1,null,true]]!'
    assert rendered("{0} {1} {0}", "a", 1.0) == '"a" 1.0 "a"'


def test_raw_strings_and_literal_braces() -> None:
    assert rendered("{x:raw} {{x}} {0:raw}", "b", x='a "quoted"') == 'a "quoted" {x} b'


def test_what_a_value_brings_is_never_scanned_again() -> None:
    assert rendered("{x:raw} {y}", x="{y} {{", y=1) == "{y} {{ 1"


def test_indentation_and_blank_ends_go_before_values_come() -> None:
    template = """
        Read this:
          {mail:raw}

        Thanks.
        """
    assert rendered(template, mail="  a\n    b  ") == "Read this:\n    a\n    b  \n\nThanks."
    assert rendered("  one line  ") == "one line"


def test_functions_become_tools_under_their_names() -> None:
    result = render("{do_up} {class_} {0} {1} {2}", (up, "x", down), {"do_up": up, "class_": down})
    assert result.text == 'do_up class tool_1 "x" tool_2'
    assert dict(result.tools) == {"do_up": up, "class": down, "tool_1": up, "tool_2": down}


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: rendered("{x}"), "no value for `{x}`"),
        (lambda: rendered("{peple}", people=1), "did you mean `people`"),
        (lambda: rendered("hello", x=1), "`x` is given"),
        (lambda: rendered("a { b"), "a lone `{`"),
        (lambda: rendered("{x.y}", x=1), "a lone `{`"),
        (lambda: rendered("{x:raw}", x=1), "{x:raw}: expected string, got int 1"),
        (lambda: rendered("{x}", x=float("nan")), "no JSON form"),
        (lambda: rendered("{tool_1} {0}", up, tool_1=down), "two different functions"),
        (lambda: rendered("{" + "f" * 65 + "}", **{"f" * 65: up}), "more than 64"),
    ],
)
def test_a_template_that_does_not_fit_its_values(call: Callable[[], Any], said: str) -> None:
    with pytest.raises(CheckError) as caught:
        call()
    assert said in str(caught.value)


def test_half_a_surrogate_pair_is_refused(scripted: Callable[..., Scripted]) -> None:
    scripted("never")
    with pytest.raises(CheckError, match="not Unicode"):
        prompt("{x}", x="\ud800")
