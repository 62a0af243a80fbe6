"""`prompt`: what a compiled script calls to ask a model.

    prompt("how many r are in {word}?", word="strawberry", returns=int).value
    (await prompt.aio("how many r are in {word}?", word="strawberry", returns=int)).value

The work is done in `_asking`, which is imported at the first call.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

if TYPE_CHECKING:
    from typing_extensions import TypeForm, TypeVar

    from runtime_support._results import Result
    from runtime_support._streaming.results import AsyncResult

    T = TypeVar("T", default=str)

Function = Callable[..., Any]
Messages = Sequence[Mapping[str, Any]]


class Prompt:
    """`prompt` is the only one; see the module's docstring."""

    @overload
    def __call__(
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
        stream: bool = False,
        **names: Any,
    ) -> Result[T]: ...

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
        """Asks the model, and gives its answer with the history.

        `{name}` and `{0}` in the template take the values as JSON text, `{name:raw}` a string as it
        is; a function becomes a tool that the model may call. `returns` is the type that the answer
        must have, `fields` the types of several named values that come as a tuple; `rounds` bounds
        the rounds of tool calls, after which the model must answer; `options` go before all other
        settings; `after` is a result whose conversation goes on with this prompt, with its `model`,
        `system` and `effort`, or the messages of one. `tools` are functions that the model may call
        beside those in the template, each under its own name or as `(name, function)`;
        `after=x, tools=x.tools` offers those of the conversation again. Those in `pure` have no
        effects: calls of them in one reply run at the same time. With `stream`, the model is
        asked when `.pieces()`, `.items()` or `.drafts()` of the result are gone through. Raises
        PromptError, ConfigError, or CheckError for a template that does not fit.
        """
        from runtime_support._asking import Question, ask

        question = Question(
            template,
            values,
            names,
            returns,
            fields,
            rounds,
            options,
            after,
            tuple(tools),
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
        returns: TypeForm[T] = str,
        fields: None = None,
        rounds: int | None = None,
        options: Mapping[str, Any] | None = None,
        after: Result[Any] | AsyncResult[Any] | Messages | None = None,
        tools: Iterable[Function | tuple[str, Function]] = (),
        pure: Iterable[Function] | None = None,
        stream: Literal[False] = False,
        **names: Any,
    ) -> Coroutine[Any, Any, Result[T]]: ...

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
        """The same for an event loop, which goes on while the model answers.

        Everything is taken now, as by `prompt`; the model is asked when this is awaited, or when
        the `.pieces()`, `.items()` or `.drafts()` of a streamed one are gone through. When the task
        is cancelled, the exchange with the server ends at once. Tools that are `async def` are
        awaited in the loop, those of one reply at the same time unless `pure` says which may be;
        others are called in threads.
        """
        from runtime_support._asking import Question, ask_async, ask_in_parts

        question = Question(
            template,
            values,
            names,
            returns,
            fields,
            rounds,
            options,
            after,
            tuple(tools),
            pure=pure if pure is None else tuple(pure),
        )
        return ask_in_parts(question) if stream else ask_async(question)


prompt: Prompt = Prompt()
