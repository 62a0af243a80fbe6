"""`prompt`: what a compiled script calls to ask a model.

    prompt("how many r are in {word}?", word="strawberry", returns=int).value

The work is done in `asking`, which is imported at the first call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, overload

if TYPE_CHECKING:
    from typing_extensions import TypeForm

    from runtime_support._results import Result

T = TypeVar("T")


@overload
def prompt(
    template: str,
    /,
    *values: Any,
    returns: TypeForm[T],
    fields: None = None,
    rounds: int | None = None,
    options: Mapping[str, Any] | None = None,
    after: Result[Any] | None = None,
    stream: bool = False,
    **names: Any,
) -> Result[T]: ...


@overload
def prompt(
    template: str,
    /,
    *values: Any,
    fields: Mapping[str, Any],
    rounds: int | None = None,
    options: Mapping[str, Any] | None = None,
    after: Result[Any] | None = None,
    stream: bool = False,
    **names: Any,
) -> Result[tuple[Any, ...]]: ...


@overload
def prompt(
    template: str,
    /,
    *values: Any,
    returns: type[str] = str,
    fields: None = None,
    rounds: int | None = None,
    options: Mapping[str, Any] | None = None,
    after: Result[Any] | None = None,
    stream: bool = False,
    **names: Any,
) -> Result[str]: ...


# For checkers that cannot take every type as a TypeForm.
@overload
def prompt(
    template: str,
    /,
    *values: Any,
    returns: Any,
    fields: None = None,
    rounds: int | None = None,
    options: Mapping[str, Any] | None = None,
    after: Result[Any] | None = None,
    stream: bool = False,
    **names: Any,
) -> Result[Any]: ...


def prompt(
    template: str,
    /,
    *values: Any,
    returns: Any = str,
    fields: Mapping[str, Any] | None = None,
    rounds: int | None = None,
    options: Mapping[str, Any] | None = None,
    after: Result[Any] | None = None,
    stream: bool = False,
    **names: Any,
) -> Result[Any]:
    """Asks the model, and gives its answer with the history.

    `{name}` and `{0}` in the template take the values as JSON text, `{name:raw}` a string as it
    is; a function becomes a tool that the model may call. `returns` is the type that the answer
    must have, `fields` the types of several named values that come as a tuple; `rounds` bounds the
    rounds of tool calls, after which the model must answer; `options` go before all other
    settings; `after` is a result whose conversation goes on with this prompt. With `stream`, the
    model is asked when `.pieces()` or `.items()` of the result are gone through. Raises
    PromptError, ConfigError, or CheckError for a template that does not fit.
    """
    from runtime_support._asking import Question, ask

    question = Question(template, values, names, returns, fields, rounds, options, after)
    return ask(question, is_streamed=stream)
