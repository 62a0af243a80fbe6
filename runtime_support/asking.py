"""From a call of `prompt` to its Result.

    ask(Question("how many r are in {word}?", (), {"word": "strawberry"}, int))   Result(3)
    first_request(question)       the request that would be sent first, without sending it

Renders the template, makes tools of the functions, chooses the goal and the provider, holds the
conversation, and gives errors their position in the script.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from runtime_support.config import Settings, settings_for
from runtime_support.conversation import Conversation
from runtime_support.errors import CheckError, SaftError, ToolsUnsupported
from runtime_support.exchange import Provider, Request
from runtime_support.goals import (
    FieldsGoal,
    Goal,
    ObjectGoal,
    TextGoal,
    ValueGoal,
    contract_of,
)
from runtime_support.media import Content
from runtime_support.positions import annotate
from runtime_support.providers import provider_for
from runtime_support.results import Result
from runtime_support.templates import Rendered, Unknown, render
from runtime_support.tools import Tool, function_tool
from runtime_support.tracing import Observer, observer_for
from runtime_support.values import brief


@dataclass(frozen=True, slots=True)
class Question:
    """The arguments of a call of `prompt`."""

    template: str
    values: tuple[Any, ...]
    names: Mapping[str, Any]
    returns: Any = str
    fields: Mapping[str, Any] | None = None
    rounds: int | None = None
    options: Mapping[str, Any] | None = None


def ask(question: Question) -> Result[Any]:
    """The answer; errors carry their position in the script."""
    try:
        return _ask(question)
    except SaftError as error:
        annotate(error)
        raise


def first_request(question: Question) -> Request:
    """What would be sent first; nothing is sent, no provider is needed.

    Values, and those of options, may be `Unknown`: their marks stand in their places.
    """
    settings = settings_where_known(question.options)
    rendered = _render(question)
    goal = _goal(question, settings)
    conversation = Conversation(
        rendered.content, {}, goal, settings, Nobody(), question.rounds, Observer()
    )
    conversation.descriptions = [_described(*tool) for tool in rendered.tools.items()]
    return conversation.request()


def settings_where_known(options: Mapping[str, Any] | None) -> Settings:
    """The settings in force, with the marks of those that are `Unknown`."""
    given = options or {}
    known = {name: value for name, value in given.items() if not isinstance(value, Unknown)}
    unknown = {name: value.mark for name, value in given.items() if isinstance(value, Unknown)}
    # Marks are texts, whatever the setting is: they are shown and not worked with.
    return replace(settings_for(known), **cast("dict[str, Any]", unknown))


def _ask(question: Question) -> Result[Any]:
    settings = settings_for(question.options)
    content, tools = _rendered(question)
    goal = _goal(question, settings)
    provider = provider_for(settings)
    observer = observer_for()
    rounds = question.rounds
    conversation = Conversation(content, tools, goal, settings, provider, rounds, observer)
    try:
        conversation.run()
    except ToolsUnsupported:
        if question.fields is None:
            raise
        goal = ObjectGoal(question.fields)
        conversation = Conversation(content, tools, goal, settings, provider, rounds, observer)
        conversation.run()
        conversation.repairs.append("asked for the fields as one JSON object: no tools there")
    return _result(conversation, question)


def _rendered(question: Question) -> tuple[Content, dict[str, Tool]]:
    rendered = _render(question)
    tools = {name: function_tool(name, f) for name, f in rendered.tools.items()}
    return rendered.content, tools


def _render(question: Question) -> Rendered:
    rendered = render(question.template, question.values, question.names)
    _check_encodable(rendered.text)
    return rendered


def _described(name: str, function: Any) -> dict[str, Any]:
    if not isinstance(function, Unknown):
        return function_tool(name, function).description()
    return {"type": "function", "function": {"name": name, "parameters": function.mark}}


def _goal(question: Question, settings: Settings) -> Goal:
    if question.fields is not None:
        if not question.fields:
            raise CheckError("`fields` names no field")
        in_one = settings.structured == "on"
        return ObjectGoal(question.fields) if in_one else FieldsGoal(question.fields)
    if question.returns is str:
        return TextGoal()
    return ValueGoal(contract_of(question.returns))


def _result(conversation: Conversation, question: Question) -> Result[Any]:
    def with_history(value: Any, fields: tuple[Result[Any], ...] = ()) -> Result[Any]:
        return Result(
            value,
            text=conversation.text,
            tool_calls=conversation.calls,
            usage=conversation.usage,
            model=conversation.model,
            repairs=conversation.repairs,
            fields=fields,
        )

    value = conversation.goal.value
    if question.fields is None:
        return with_history(value)
    return with_history(value, tuple(map(with_history, value)))


def _check_encodable(text: str) -> None:
    """Half of a surrogate pair cannot be sent."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        bad = text[error.start : error.end]
        raise CheckError(f"the prompt has a character that is not Unicode: {brief(bad)}") from None


class Nobody:
    """A provider that is never asked."""

    def complete(self, request: Request) -> Any:
        raise NotImplementedError


_: Provider = Nobody()
