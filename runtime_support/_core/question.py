"""Runs calls of `prompt`, from the arguments to the answer.

    ask(Question("how many r are in {word}?", (), {"word": "strawberry"}, int))   Result(3)
    prepare(question)             the conversation, to be run here or in an event loop
    first_request(question)       the first request, without sending it

The call itself reads the template, the settings and its position in the script. Only the
conversation may run later.
"""

from __future__ import annotations

from collections.abc import Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import iscoroutinefunction
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from runtime_support._core import spending as spending  # counts what is asked
from runtime_support._core.conversation import Conversation
from runtime_support._core.hooks import PromptRun, hooks_for, load_part
from runtime_support._core.messages import Request, ToolRequest
from runtime_support._core.outputs.outputs import Output, TextOutput
from runtime_support._core.positions.frames import Place, annotate, place_of_call
from runtime_support._core.results import NOTHING_BEFORE, ConversationDefaults, Result, Transcript
from runtime_support._core.settings import Settings, ambient_names, settings_for, settings_to_show
from runtime_support._core.tasks.waits import finish
from runtime_support._core.templates import RenderedPrompt, Unknown, offer, render
from runtime_support._values.predicates import is_object, plain
from runtime_support.errors import CheckError, SaftError

if TYPE_CHECKING:
    from runtime_support._core.tools import Tool
    from runtime_support._streaming.results import AsyncResult

T = TypeVar("T")

# The options that a follow-up prompt inherits.
KEPT_OPTIONS = ("model", "fallback", "system", "reasoning_effort")
# Options that are no settings and apply to one prompt only.
_TRUST = "trust_system"
_CHECK = "check"


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
    after: Result[Any] | AsyncResult[Any] | Sequence[Mapping[str, Any]] | None = None
    tools: tuple[Any, ...] = ()
    before: Transcript = NOTHING_BEFORE  # the conversation of `after`
    check: Any = None  # the function that refuses a value by failing
    pure: Iterable[Any] | None = None

    # Whether the functions are offered as tools, which the model calls one by one.
    offers_tools: ClassVar[bool] = True
    conversation: ClassVar[type[Conversation]] = Conversation

    def with_history(self) -> Question:
        """Returns a copy with the conversation of `after` and the options inherited from it.

        Waits until that conversation has ended.
        """
        given: Any = plain(self.options)
        if self.after is None and not (is_object(given) and {_TRUST, _CHECK} & given.keys()):
            return self
        own: Any = dict(given) if is_object(given) else given
        judge = plain(own.pop(_CHECK, None)) if is_object(own) else None
        if judge is not None and not isinstance(judge, Unknown):
            from runtime_support._schema.rules import checked_judge

            several, is_program = self.fields is not None, not self.offers_tools
            judge = checked_judge(judge, is_several=several, is_program=is_program)
        trusts = own.pop(_TRUST, False) if is_object(own) else False
        has_system = is_object(own) and plain(own.get("system")) is not None
        before = NOTHING_BEFORE
        if self.after is not None or trusts is not False:
            before = load_part("transcripts").earlier(self.after, trusts, has_system=has_system)
        if before.options and (own is None or is_object(own)):
            said: dict[str, Any] = own or {}
            unsaid = {n: one for n, one in before.options.items() if plain(said.get(n)) is None}
            own = {**said, **unsaid}
        return replace(self, options=own, before=before, check=judge)

    def known_as_pure(self) -> tuple[Any, ...] | None:
        """Returns the functions declared as pure by this prompt or in the conversation of `after`.

        Returns None if no function is declared as pure.
        """
        if self.pure is None:
            return self.before.pure
        return (*(self.before.pure or ()), *map(plain, self.pure))

    def functions(self, rendered: RenderedPrompt) -> dict[str, Any]:
        """Maps tool names to the functions that the model may call.

        The functions in the template come first, then those of `tools`.
        """
        found = dict(rendered.tools)
        if self.tools:
            from runtime_support._core.tools import named_function

            for one in self.tools:
                offer(found, *named_function(plain(one)))
        return found

    def output(self, settings: Settings, functions: Mapping[str, Any]) -> Output:
        """Returns the Output for the conversation.

        Raises CheckError if the name of a function is reserved for a return tool.
        """
        output = _output_for(self.returns, self.fields, settings.enforce_schema)
        for name in functions:
            if output.handles(ToolRequest(name, "")):
                raise CheckError(f"`{name}` is a tool by which the model hands in a field")
        return output

    def settled(self, settings: Settings) -> Settings:
        """Returns the settings for the conversation. Subclasses may change them."""
        return settings


def _output_for(returns: Any, fields: Mapping[str, Any] | None, structured: str) -> Output:
    """Returns an Output for `fields`, or for the type `returns` if there are no fields."""
    if fields is None:
        if returns is str:
            return TextOutput()
        from runtime_support._core.outputs.contracts import ValueOutput, contract_of

        return ValueOutput(contract_of(returns))
    from runtime_support._schema import check

    check(fields, dict[str, Any], path="fields")
    if not fields:
        raise CheckError("`fields` names no field")
    if structured == "on":
        from runtime_support._core.outputs.contracts import ObjectOutput

        return ObjectOutput(fields)
    from runtime_support._core.outputs.fields import FieldsOutput

    return FieldsOutput(fields)


def ask(question: Question, *, is_streamed: bool = False) -> Result[Any]:
    """Asks the question and returns its result, which is streamed or complete.

    Errors have the position of the prompt in the script.
    """
    conversation = prepare(question, is_streamed=is_streamed)
    if conversation.parts is None:
        return Result.of(finish(conversation.answer()))
    return Result.of(load_part("results").PromptStream(conversation, conversation.parts))


def ask_async(question: Question) -> Coroutine[Any, Any, Result[Any]]:
    """Returns a coroutine for the result. Errors in the arguments are raised at once."""
    return answer_async(prepare(question, is_awaited=True))


def ask_in_parts(question: Question) -> AsyncResult[Any]:
    """Returns a streamed result. Errors in the arguments are raised at once."""
    conversation = prepare(question, is_streamed=True, is_awaited=True)
    return load_part("results").AsyncResult(conversation, conversation.parts)


async def answer_async(conversation: Conversation) -> Result[Any]:
    """Runs a conversation in the event loop and returns its result."""
    from runtime_support._core.tasks.loops import finish_async

    return Result.of(await finish_async(conversation.answer()))


def prepare(
    question: Question, *, is_streamed: bool = False, is_awaited: bool = False
) -> Conversation:
    """Makes the conversation of a call, with its settings and hooks.

    Raises a SaftError with the position of the call if an argument or a setting is wrong.
    """
    try:
        question = question.with_history()
        place = place_of_call()
        settings = settings_for(question.options, place)
        conversation = _conversation(question, settings, place, is_awaited=is_awaited)
        if is_streamed:
            conversation.give_parts()
        conversation.prompt.hooks = hooks_for(conversation.prompt)
        return conversation
    except SaftError as error:
        annotate(error)
        raise


def _tools_of(functions: Mapping[str, Any]) -> dict[str, Tool]:
    """Returns the functions as tools. Imports the module `tools` only if there is a function."""
    if not functions:
        return {}
    from runtime_support._core.tools import function_tool

    return {name: function_tool(name, one) for name, one in functions.items()}


def _parallel(
    tools: Mapping[str, Tool], pure: tuple[Any, ...] | None, settings: Settings, is_awaited: bool
) -> frozenset[str]:
    """Returns the names of the tools whose calls may run concurrently.

    These are the tools with functions in `pure`. If `pure` is None, they are the `async def`
    functions in an event loop. Tools that need approval are left out.
    """
    if len(tools) == 0 or settings.max_in_flight == 1 or (pure is None and not is_awaited):
        return frozenset()
    return frozenset(
        name
        for name, tool in tools.items()
        if not tool.waits
        and (tool.function in pure if pure is not None else iscoroutinefunction(tool.function))
    )


def first_request(question: Question) -> Request:
    """Returns the request that would be sent first. Sends nothing and needs no provider.

    Values and options may be `Unknown`: the request has their marks instead.
    """
    question = question.with_history()
    return _conversation(question, settings_where_known(question.options)).request()


def settings_where_known(options: Mapping[str, Any] | None) -> Settings:
    """Returns the settings in force, with marks for options that are `Unknown`."""
    given = options or {}
    known = {name: value for name, value in given.items() if not isinstance(value, Unknown)}
    unknown = {name: value.mark for name, value in given.items() if isinstance(value, Unknown)}
    # Marks are texts, whatever the setting's type: they are only shown.
    return replace(settings_to_show(known), **cast("dict[str, Any]", unknown))


def _rendered(question: Question) -> RenderedPrompt:
    """Renders the template. Raises CheckError if the text is not valid Unicode."""
    rendered = render(question.template, question.values, question.names)
    text = rendered.text
    try:
        if not text.isascii():
            text.encode()
    except UnicodeEncodeError as error:
        from runtime_support._values.kinds import brief

        half = brief(error.object[error.start : error.end])
        raise CheckError(f"the prompt has a character that is not Unicode: {half}") from None
    return rendered


def _conversation(
    question: Question, settings: Settings, place: Place | None = None, *, is_awaited: bool = False
) -> Conversation:
    rendered = _rendered(question)
    functions = question.functions(rendered)
    rounds = plain(question.rounds)
    if rounds is not None and (type(rounds) is not int or rounds < 0):
        from runtime_support._values.kinds import brief

        raise CheckError(f"`rounds` is a number of rounds, got {brief(rounds)}")
    offered = functions if question.offers_tools else {}
    tools = _tools_of({n: one for n, one in offered.items() if not isinstance(one, Unknown)})
    described = [
        tools[name].description() if name in tools else _unknown_tool(name, function)
        for name, function in offered.items()
    ]
    pure = question.known_as_pure()
    prompt = PromptRun(question.settled(settings), place, functions)
    return question.conversation(
        prompt,
        rendered.content,
        question.output(settings, functions),
        tools,
        described,
        _parallel(tools, pure, settings, is_awaited),
        rounds,
        ambient_names(question.options),
        question.before.messages,
        ConversationDefaults(
            tuple(functions.items()), _conversation_options(question.options), pure
        ),
        question.check,
    )


def _conversation_options(options: Mapping[str, Any] | None) -> dict[str, Any]:
    given = options or {}
    return {name: given[name] for name in KEPT_OPTIONS if plain(given.get(name)) is not None}


def _unknown_tool(name: str, function: Unknown) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": function.mark}}
