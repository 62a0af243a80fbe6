"""The object `prompt` asks a model; compiled scripts call it.

    prompt("how many r are in {word}?", word="strawberry", returns=int).value
    (await prompt.aio("how many r are in {word}?", word="strawberry", returns=int)).value

The implementation is in `question`, which is imported at the first call.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

if TYPE_CHECKING:
    from typing_extensions import TypeForm, TypeVar

    from runtime_support._core.results import Result
    from runtime_support._streaming.results import AsyncResult

    T = TypeVar("T", default=str)

Function = Callable[..., Any]
Messages = Sequence[Mapping[str, Any]]


class Prompt:
    """Asks a model, and returns its answer with the history. `prompt` is the only instance.

        prompt("Add {0} and {1}.", 2, 3, returns=int).value                 5
        prompt("Who has the longest name in {people}?", people=people).text
        await prompt.aio("Add {0} and {1}.", 2, 3, returns=int)             in an event loop

    `__call__` describes the arguments, the result and the errors; `aio` takes the same arguments.
    """

    @overload
    def __call__(
        self,
        template: str,
        /,
        *values: Any,
        returns: TypeForm[T],
        fields: None = None,
        rounds: int | None = None,
        options: Mapping[str, Any] | None = None,
        after: Result[Any] | AsyncResult[Any] | Messages | None = None,
        tools: Iterable[Function | tuple[str, Function]] = (),
        pure: Iterable[Function] | None = None,
        stream: bool = False,
        **names: Any,
    ) -> Result[T]: ...

    # For mypy, which finds no default of T where `prompt` is passed on, as to `later`.
    @overload
    def __call__(
        self,
        template: str,
        /,
        *values: Any,
        returns: type[str] = str,
        fields: None = None,
        rounds: int | None = None,
        options: Mapping[str, Any] | None = None,
        after: Result[Any] | AsyncResult[Any] | Messages | None = None,
        tools: Iterable[Function | tuple[str, Function]] = (),
        pure: Iterable[Function] | None = None,
        stream: bool = False,
        **names: Any,
    ) -> Result[str]: ...

    @overload
    def __call__(
        self,
        template: str,
        /,
        *values: Any,
        fields: Mapping[str, Any],
        rounds: int | None = None,
        options: Mapping[str, Any] | None = None,
        after: Result[Any] | AsyncResult[Any] | Messages | None = None,
        tools: Iterable[Function | tuple[str, Function]] = (),
        pure: Iterable[Function] | None = None,
        stream: bool = False,
        **names: Any,
    ) -> Result[tuple[Any, ...]]: ...

    # For checkers that cannot take every type as a TypeForm.
    @overload
    def __call__(
        self,
        template: str,
        /,
        *values: Any,
        returns: Any,
        fields: None = None,
        rounds: int | None = None,
        options: Mapping[str, Any] | None = None,
        after: Result[Any] | AsyncResult[Any] | Messages | None = None,
        tools: Iterable[Function | tuple[str, Function]] = (),
        pure: Iterable[Function] | None = None,
        stream: bool = False,
        **names: Any,
    ) -> Result[Any]: ...

    def __call__(
        self,
        template: str,
        /,
        *values: Any,
        returns: Any = str,
        fields: Mapping[str, Any] | None = None,
        rounds: int | None = None,
        options: Mapping[str, Any] | None = None,
        after: Result[Any] | AsyncResult[Any] | Messages | None = None,
        tools: Iterable[Function | tuple[str, Function]] = (),
        pure: Iterable[Function] | None = None,
        stream: bool = False,
        **names: Any,
    ) -> Result[Any]:
        """Asks the model for an answer of the type `returns`; returns a Result.

        `result.value` is the answer; the result also has `text`, `tool_calls`, `usage`, `messages`
        and more: see `Result`.

        - `template`: the text of the prompt. `{name}` inserts a keyword argument and `{0}` a
          positional one, as JSON text; `{name:raw}` inserts a string unchanged; `{{` inserts a
          brace. A function that is inserted becomes a tool that the model may call.
        - `returns`: the type of the answer: `str` (the default) for text, `int`, `list[T]`, a
          dataclass, a pydantic model and others. A reply that does not fit goes back to the model
          with the reason, at most as often as the setting `max_repairs` says (once by default).
        - `fields`: types by name, to ask for several values; `result.value` is a tuple of them.
        - `rounds`: how many rounds of tool calls are allowed before the model must answer. Without
          it, the setting `max_tool_rounds` (8 by default) is the limit.
        - `options`: settings for this prompt, such as `{"model": "gpt-4o", "temperature": 0}`.
        - `after`: a result, or the messages of a result. This prompt continues that conversation,
          with its `model`, `fallback`, `system` and `reasoning_effort`, but without its tools. To
          offer them again, pass `tools=result.tools`.
        - `tools`: functions that the model may call beside those in the template, each under its
          own name or as `(name, function)`.
        - `pure`: functions without effects; calls of them in one reply run concurrently.
        - `stream`: if true, the request is sent only when you loop over `.pieces()`, `.items()` or
          `.drafts()` of the result.

        Raises a PromptError if there is no usable answer (ContractError, ProviderError, Refused and
        others), a ConfigError for a wrong setting, and a CheckError for a template that does not
        fit its values.
        """
        from runtime_support._core.question import Question, ask

        question = Question(
            *(template, values, names, returns, fields, rounds, options, after, tuple(tools)),
            pure=pure if pure is None else tuple(pure),
        )
        return ask(question, is_streamed=stream)

    @overload
    def aio(
        self,
        template: str,
        /,
        *values: Any,
        returns: TypeForm[T] = str,
        fields: None = None,
        rounds: int | None = None,
        options: Mapping[str, Any] | None = None,
        after: Result[Any] | AsyncResult[Any] | Messages | None = None,
        tools: Iterable[Function | tuple[str, Function]] = (),
        pure: Iterable[Function] | None = None,
        stream: Literal[True],
        **names: Any,
    ) -> AsyncResult[T]: ...

    # For checkers that cannot take every type as a TypeForm.
    @overload
    def aio(
        self,
        template: str,
        /,
        *values: Any,
        returns: Any,
        fields: None = None,
        rounds: int | None = None,
        options: Mapping[str, Any] | None = None,
        after: Result[Any] | AsyncResult[Any] | Messages | None = None,
        tools: Iterable[Function | tuple[str, Function]] = (),
        pure: Iterable[Function] | None = None,
        stream: Literal[True],
        **names: Any,
    ) -> AsyncResult[Any]: ...

    @overload
    def aio(
        self,
        template: str,
        /,
        *values: Any,
        returns: TypeForm[T],
        fields: None = None,
        rounds: int | None = None,
        options: Mapping[str, Any] | None = None,
        after: Result[Any] | AsyncResult[Any] | Messages | None = None,
        tools: Iterable[Function | tuple[str, Function]] = (),
        pure: Iterable[Function] | None = None,
        stream: Literal[False] = False,
        **names: Any,
    ) -> Coroutine[Any, Any, Result[T]]: ...

    # For mypy, which finds no default of T where `prompt` is passed on, as to `later`.
    @overload
    def aio(
        self,
        template: str,
        /,
        *values: Any,
        returns: type[str] = str,
        fields: None = None,
        rounds: int | None = None,
        options: Mapping[str, Any] | None = None,
        after: Result[Any] | AsyncResult[Any] | Messages | None = None,
        tools: Iterable[Function | tuple[str, Function]] = (),
        pure: Iterable[Function] | None = None,
        stream: Literal[False] = False,
        **names: Any,
    ) -> Coroutine[Any, Any, Result[str]]: ...

    @overload
    def aio(
        self,
        template: str,
        /,
        *values: Any,
        fields: Mapping[str, Any],
        rounds: int | None = None,
        options: Mapping[str, Any] | None = None,
        after: Result[Any] | AsyncResult[Any] | Messages | None = None,
        tools: Iterable[Function | tuple[str, Function]] = (),
        pure: Iterable[Function] | None = None,
        stream: Literal[False] = False,
        **names: Any,
    ) -> Coroutine[Any, Any, Result[tuple[Any, ...]]]: ...

    # For checkers that cannot take every type as a TypeForm.
    @overload
    def aio(
        self,
        template: str,
        /,
        *values: Any,
        returns: Any,
        fields: None = None,
        rounds: int | None = None,
        options: Mapping[str, Any] | None = None,
        after: Result[Any] | AsyncResult[Any] | Messages | None = None,
        tools: Iterable[Function | tuple[str, Function]] = (),
        pure: Iterable[Function] | None = None,
        stream: Literal[False] = False,
        **names: Any,
    ) -> Coroutine[Any, Any, Result[Any]]: ...

    def aio(
        self,
        template: str,
        /,
        *values: Any,
        returns: Any = str,
        fields: Mapping[str, Any] | None = None,
        rounds: int | None = None,
        options: Mapping[str, Any] | None = None,
        after: Result[Any] | AsyncResult[Any] | Messages | None = None,
        tools: Iterable[Function | tuple[str, Function]] = (),
        pure: Iterable[Function] | None = None,
        stream: bool = False,
        **names: Any,
    ) -> Coroutine[Any, Any, Result[Any]] | AsyncResult[Any]:
        """Asks the model from an event loop, without blocking the loop.

        Takes the arguments of `prompt(...)` and raises the same errors. The call itself reads the
        template and the settings; awaiting it sends the request and returns the Result. With
        `stream=True`, the call returns an AsyncResult: loop over its parts with `async for`, or
        await it for the whole Result. Cancelling the task ends the exchange with the server at
        once.

        Tools that are `async def` are awaited in the loop, and several calls of them in one reply
        run concurrently. If `pure` is set, only the functions in it run concurrently. Other tools
        run in threads.
        """
        from runtime_support._core.question import Question, ask_async, ask_in_parts

        question = Question(
            *(template, values, names, returns, fields, rounds, options, after, tuple(tools)),
            pure=pure if pure is None else tuple(pure),
        )
        return ask_in_parts(question) if stream else ask_async(question)


prompt: Prompt = Prompt()
