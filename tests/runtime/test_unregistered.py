"""Modules that are run from memory: nothing of theirs stands in `sys.modules`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from runtime_support import CheckError
from runtime_support.testing import Scripted, tool_request

Script = Callable[..., Scripted]

SCRIPT = """
from dataclasses import dataclass
from typing import Annotated, NotRequired, TypedDict

from runtime_support import check, ops, prompt


@dataclass(frozen=True)
class Tree:
    name: str
    leaves: "list[Leaf]"
    left: "Tree | None" = None


class Leaf(TypedDict):
    size: "Annotated[float, 'in cm']"
    tree: "Tree | None"
    next: NotRequired["Leaf"]


def grow(tree: "Tree", leaf: "Leaf") -> "Tree":
    return Tree(tree.name, [*tree.leaves, leaf])


def checked(value):
    return check(value, Leaf)


def asked():
    return prompt("a tree", returns=Tree).value


def grown():
    return prompt("{grow}", grow=grow).tool_calls[0]


def called(name):
    return ops.call(Tree, name, leaves=[{"size": 1}])
"""


@pytest.fixture(params=["__main__", "a_module_of_no_file"])
def script(request: pytest.FixtureRequest) -> dict[str, Any]:
    namespace: dict[str, Any] = {"__name__": request.param}
    if request.param != "__main__":
        # `dataclass` itself needs the module while it reads annotations that are text.
        sys.modules[request.param] = type(sys)(request.param)
    exec(compile(SCRIPT, "<compiled tree.saft>", "exec"), namespace)
    if request.param != "__main__":
        del sys.modules[request.param]
    return namespace


def test_a_check(script: dict[str, Any]) -> None:
    assert script["checked"]({"size": 1}) == {"size": 1.0, "tree": None}
    with pytest.raises(CheckError, match=r"value\.next\.size: expected float"):
        script["checked"]({"size": 1, "next": {"size": "x"}})


def test_a_prompt(script: dict[str, Any], scripted: Script) -> None:
    model = scripted('{"name": "oak", "leaves": [{"size": 2}], "left": null}')
    assert script["asked"]() == script["Tree"]("oak", [{"size": 2.0, "tree": None}])
    assert "size: float, // in cm" in model.requests[0].messages[0]["content"]


def test_a_tool(script: dict[str, Any], scripted: Script) -> None:
    tree = {"name": "oak", "leaves": []}
    scripted(tool_request("grow", tree=tree, leaf={"size": "2"}), "done")
    call = script["grown"]()
    assert call.error is None
    assert call.result is not None and '"size":2.0' in call.result


def test_a_call(script: dict[str, Any]) -> None:
    assert script["called"]("oak").leaves == [{"size": 1.0, "tree": None}]


def test_a_tool_in_another_thread(script: dict[str, Any]) -> None:
    from runtime_support._core.tools import function_tool

    with ThreadPoolExecutor(1) as pool:
        tool = pool.submit(function_tool, "grow", script["grow"]).result()
    assert set(tool.description()["function"]["parameters"]["properties"]) == {"tree", "leaf"}


def test_a_name_that_nobody_knows_is_a_check_error() -> None:
    from dataclasses import make_dataclass

    from runtime_support import check

    odd = make_dataclass("Odd", [("a", "NoSuchType")])
    with pytest.raises(CheckError, match="annotations of Odd: name 'NoSuchType' is not defined"):
        check(odd(1), odd)
