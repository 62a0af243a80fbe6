"""Destructuring, row by row, with the exact requests: `field_cases/NAME.json`.

A case holds the prompt and what the model replies; the expectation holds the first request whole,
of each further one what was added to it, and the values or the error. `pytest --update-cases`
writes the expectations anew.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import pytest

from runtime_support import PromptError, ToolsUnsupported, configure, prompt
from runtime_support._core.messages import Reply, Request
from runtime_support.testing import Queued, Scripted, tool_request

CASES = sorted((Path(__file__).parent / "field_cases").glob("*.json"))

RETURN = "__saft_return_"


class Colour(TypedDict):
    name: Annotated[str, "in English"]
    count: int


FIELDS: dict[str, dict[str, Any]] = {
    "person": {"name": str, "age": Annotated[int, "in years"]},
    "label": {"label": Literal["bug", "question"], "reason": str | None},
    "colours": {"colours": list[Colour], "total": int},
}


def look_up(name: str) -> str:
    """What is known of a person."""
    return f"{name} is 30"


class Model(Scripted):
    """Queued replies; it may refuse tools, as some servers do."""

    refuses_tools = False

    def complete(self, request: Request) -> Reply:
        if self.refuses_tools and request.tools:
            with self._lock:
                self.requests.append(request)
            raise ToolsUnsupported("this server takes no tools")
        return super().complete(request)


@pytest.mark.parametrize("path", CASES, ids=[path.stem for path in CASES])
def test_case(path: Path, updates_cases: bool) -> None:
    case = json.loads(path.read_text(encoding="utf-8"))
    found = {**case, "expected": run(case)}
    text = json.dumps(found, ensure_ascii=False, indent=2) + "\n"
    if updates_cases:
        path.write_text(text, encoding="utf-8")
    assert found["expected"] == case.get("expected")


def run(case: dict[str, Any]) -> dict[str, Any]:
    """The requests that were sent, and what came of them."""
    model = Model([queued(reply) for reply in case["replies"]])
    model.refuses_tools = case.get("refuses_tools", False)
    configure(provider=model)
    template = case.get("prompt", "Get info for {who}")
    names = {"who": "Alice"} if "{who}" in template else {}
    tools = {"look_up": look_up} if "{look_up}" in template else {}
    more = {key: case[key] for key in ("rounds", "options") if key in case}
    outcome: dict[str, Any]
    try:
        result = prompt(template, fields=FIELDS[case["fields"]], **names, **tools, **more)
    except PromptError as error:
        outcome = {"error": type(error).__name__, "message": str(error)}
    else:
        assert [field.value for field in result.fields] == list(result.value)
        calls = [f"{call.tool} -> {call.result or call.error}" for call in result.tool_calls]
        outcome = {"value": list(result.value), "repairs": result.repairs, "tool_calls": calls}
    assert len(model.replies) == case.get("left", 0), "replies that were not asked for"
    return {"requests": changes([request.canonical() for request in model.requests]), **outcome}


def queued(reply: Any) -> Queued:
    """A text, or calls: `{"name": "Alice", "look_up": {...}}`, a pair in a list for repeats."""
    if isinstance(reply, str):
        return reply
    calls = reply.items() if isinstance(reply, dict) else reply
    return [
        tool_request(name, **arguments)
        if name == "look_up"
        else tool_request(RETURN + name, value=arguments)
        for name, arguments in calls
    ]


def changes(requests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first request, then of each one what is new: the transcript is always sent whole."""
    shown = requests[:1]
    for before, request in itertools.pairwise(requests):
        length = len(before["messages"])
        if request["messages"][:length] != before["messages"]:
            shown.append({"anew": request})
            continue
        others = {key: value for key, value in request.items() if before.get(key) != value}
        if "tools" in others:
            others["tools"] = [tool["function"]["name"] for tool in others["tools"]]
        shown.append({**others, "messages": request["messages"][length:]})
    return shown
