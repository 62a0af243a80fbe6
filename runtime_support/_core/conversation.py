"""A conversation with a model, from the first request to the value.

    conversation = prepare(Question("how many r are in {word}?", ...))        see `question`
    finish(conversation.answer())             its Answer, in this thread
    await finish_async(conversation.answer())

Each request contains the whole transcript. A reply with tool calls is a round: the calls run in
order, and their results are sent. Any other reply ends a turn. If the reply does not complete the
output, the model gets the reason and another try, at most `max_repairs` times. If the model calls a
tool although the prompt offers none, the call gets an error as its result. This also costs a try.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from runtime_support._core.hooks import PromptRun, load_part, wrap_with_hooks
from runtime_support._core.messages import (
    AssistantMessage,
    Message,
    Reply,
    ReplyStream,
    Request,
    StreamingProvider,
)
from runtime_support._core.outputs.outputs import (
    MORE_ROUNDS,
    LeakedCall,
    Output,
    Unreadable,
    without_thinking,
)
from runtime_support._core.positions.frames import annotate
from runtime_support._core.redaction import escaped, redacted
from runtime_support._core.results import (
    NOTHING_KEPT,
    Answer,
    ConversationDefaults,
    Result,
    ToolCall,
    Usage,
)
from runtime_support._core.tasks.turns import wait_for_turn, wait_while_held
from runtime_support._core.tasks.waits import Steps, Wait, drive
from runtime_support.errors import (
    ContractError,
    PromptError,
    ProviderError,
    Refused,
    ReplayMiss,
    SaftError,
    ToolsUnsupported,
    TruncatedReply,
)

if TYPE_CHECKING:
    from runtime_support._core.tool_rounds import ToolRounds
    from runtime_support._core.tools import Tool
    from runtime_support._media import Content
    from runtime_support._streaming.chunks import Parts
    from runtime_support.events import EventParts

# Servers' words for the end of a reply. An unknown word means a complete reply, and is recorded as
# a repair.
_REFUSALS = ("refusal", "content_filter")
_WHOLE = ("stop", "tool_calls")
_SAME: dict[str, str] = {
    **dict.fromkeys(("eos", "eos_token", "end_turn", "stop_sequence", "completed", ""), "stop"),
    **dict.fromkeys(("function_call", "tool_use"), "tool_calls"),
    **dict.fromkeys(
        ("max_tokens", "max_output_tokens", "model_length", "model_context_window_exceeded"),
        "length",
    ),
    **dict.fromkeys(("incomplete", "insufficient_system_resource", "max_length"), "length"),
    **dict.fromkeys(
        ("safety", "sensitive", "recitation", "blocklist", "prohibited_content", "spii"),
        "content_filter",
    ),
    **dict.fromkeys(("content_filtered", "guardrail_intervened", "safety_stop"), "content_filter"),
}
SHOWN = 200


class Conversation:
    """The conversation of one call of `prompt`.

    - `tools`: the functions that the model may call, with their `descriptions` for requests. Calls
      of the tools in `parallel` may run concurrently.
    - `rounds_allowed`: how many rounds of calls are allowed before the model must answer.
    - `ambient`: names of the settings that come from the environment, not from the program.
    - `check`: a function that refuses a value by raising an error with the reason.
    - `parts`: an object that makes parts of the value from chunks of replies; None if the prompt is
      not streamed.
    """

    def __init__(
        self,
        prompt: PromptRun,
        content: Content,
        output: Output,
        tools: Mapping[str, Tool],
        descriptions: Sequence[dict[str, Any]],
        parallel: frozenset[str],
        rounds: int | None = None,
        ambient: frozenset[str] = frozenset(),
        earlier: Sequence[Message] = (),
        kept: ConversationDefaults = NOTHING_KEPT,
        check: Callable[[Any], object] | None = None,
    ) -> None:
        self.prompt = prompt
        self.settings = prompt.settings
        self.content = content
        self.tools = tools
        self.descriptions = descriptions
        self.parallel = parallel
        self.rounds_allowed = rounds
        self.ambient = ambient
        self.earlier = earlier
        self.kept = kept
        self.check = check
        self.parts: Parts | None = None
        self.events: EventParts | None = None
        self.calls: list[ToolCall] = []
        # The rounds of calls of ordinary tools so far.
        self.rounds = 0
        self.attempts: list[tuple[str, str]] = []
        self.repairs: list[str] = []
        self.usage = Usage()
        self.asked_model = self.settings.model
        self.model = self.settings.model or ""
        self.text = ""
        self.finish = "stop"
        self.begin(output)

    @cached_property
    def tool_rounds(self) -> ToolRounds:
        """The object that makes the model's tool calls."""
        return load_part("tool_rounds").ToolRounds(self)

    def begin(self, output: Output) -> None:
        """Starts the transcript with the prompt, which asks the model for this output."""
        self.output = output
        output.has_tools = bool(self.descriptions)
        self.messages = _opening(self.content, output.ending(), self.settings.system, self.earlier)
        self.begins = len(self.messages) - 1

    def give_parts(self) -> None:
        """Enables streaming. Raises CheckError or ConfigError if the answer cannot be streamed."""
        if self.check is not None:
            from runtime_support._schema.rules import refused_check

            said = "parts of a stream are given before all is checked"
            raise refused_check(said, "leave `stream` out")
        self.parts = load_part("chunks").parts_for(self.output)

    def answer(self, parts: Parts | None = None, events: EventParts | None = None) -> Steps[Answer]:
        """Runs the conversation through all hooks and returns its answer.

        If the prompt is streamed, yields the parts of the value as they arrive. With `events`,
        yields events instead: pieces of text and tool calls. An error gets the position of the
        prompt.
        """
        self.parts, self.events = parts or self.parts, events
        if self.parts is not None:
            yield from wait_for_turn()
        try:
            answering: Steps[Answer]
            answering = wrap_with_hooks(self.prompt.hooks, "prompt", self.converse)(self.prompt)
            return (yield from answering)
        except (SaftError, ReplayMiss) as error:
            annotate(error, self.prompt.place)
            if error.hint == MORE_ROUNDS and error.saft_position is not None:
                error.hint = "leave out `do` if it may use them more often"
            raise

    def converse(self, prompt: PromptRun) -> Steps[Answer]:
        """Sends requests until the output is complete, and returns the answer.

        Raises PromptError if the model gives no usable answer.
        """
        try:
            while not self.output.is_complete:
                try:
                    reply = yield from self.send(self.request())
                except ToolsUnsupported:
                    if self.usage.requests or not self._does_without_tools():
                        raise
                    continue
                self._receive(reply)
                if reply.tool_calls:
                    yield from self.tool_rounds.run(reply)
                else:
                    yield from self._accept(reply)
        except PromptError as error:
            # A prompt inside a tool has its own calls and replies to report.
            error.tool_calls = error.tool_calls or tuple(self.calls)
            self.note_replies(error)
            raise
        self.repairs.extend(self.output.repairs)
        answer = self._answer_of(self.output.value)
        if self.parts is not None:
            yield from self.parts.rest(answer.value)
        return answer

    def send(self, request: Request) -> ReplyStream:
        """Sends a request through all hooks and returns the reply.

        If the prompt is streamed, yields the parts of the value as they become complete.
        """
        yield from wait_while_held()
        if self.parts is not None:
            request = replace(request, pieces=[])
            self.parts.begin()
        replying: ReplyStream = wrap_with_hooks(self.prompt.hooks, "request", self._ask)(request)
        if self.parts is None:
            return (yield from replying)
        reply = yield from drive(replying, partial(_parts_of_step, self.parts))
        if reply.tool_calls:
            yield from self.parts.before_calls(reply.text)
        return reply

    def _ask(self, request: Request) -> ReplyStream:
        """Gets the provider's reply, streamed if the prompt is and the provider can stream."""
        provider = self.prompt.provider
        if isinstance(provider, StreamingProvider):
            return provider.stream_reply(request, request.pieces)
        from runtime_support._core.own_providers import adapt_provider

        return adapt_provider(provider, request, request.pieces)

    def _does_without_tools(self) -> bool:
        """Restarts the conversation without return tools. Returns False if the output has none."""
        other = self.output.without_tools()
        if other is None:
            return False
        self.begin(other)
        self.repairs.append("asked for the fields as one JSON object: no tools there")
        return True

    def _accept(self, reply: Reply) -> Steps[None]:
        """Takes the value from a reply without tool calls; if that fails, asks the model again."""
        try:
            self._refuse_leaked_call(reply.text)
            work = self.output.accept(reply.text)
            if work is not None:
                outcome: Any = yield from self.tool_rounds.caller.do(work)
                self.calls.extend(work.calls(outcome))
                work.judge(outcome)
            elif self.check is not None:
                self._check_value(self.check)
        except Unreadable as unreadable:
            self._ask_again(reply, unreadable)
        else:
            self._note_cut(reply)
            if self.output.is_complete:
                self.messages.append(_text_message(reply))

    def note_replies(self, error: SaftError) -> None:
        """Adds the text of the last reply and the number of replies to the prompt's error."""
        if error.replies is None:
            error.replies, error.reply = self.usage.requests, self.text or None

    def request(self) -> Request:
        """Returns the next request."""
        returns = self.output.return_tools()
        is_over = self.ordinary_rounds_are_over
        ordinary = () if is_over and returns else self.descriptions
        contract = self.output.contract
        schema = contract.json_schema if contract is not None else None
        return Request(
            messages=tuple(self.messages),
            model=self.asked_model,
            tools=(*ordinary, *returns),
            must_answer=is_over and bool(ordinary),
            schema=None if self.settings.enforce_schema == "off" else schema,
            is_strict=contract is not None and contract.is_strict,
            losses=contract.losses if contract is not None else (),
            enforce_schema=self.settings.enforce_schema,
            options=self.settings.sampling(),
            ambient=self.ambient,
            begins=self.begins,
        )

    def _answer_of(self, value: Any) -> Answer:
        """Returns the value with the history of the conversation.

        If the prompt asked for several fields, each field also gets a Result.
        """
        history = (self.text, self.calls, self.usage, self.model, self.repairs)
        end = (tuple(self.messages), self.finish, self.kept)
        each = value if self.output.is_several else ()
        fields = tuple(Result.of(Answer(one, *history, (), *end)) for one in each)
        return Answer(value, *history, fields, *end)

    @property
    def ordinary_rounds_are_over(self) -> bool:
        return self.rounds_allowed is not None and self.rounds >= self.rounds_allowed

    def _receive(self, reply: Reply) -> None:
        self.usage += reply.usage
        self.asked_model = reply.fallback or self.asked_model
        self.model = reply.model or self.model
        self.text = reply.text
        self.finish = _finish_of(reply)
        self._examine(reply)

    def _examine(self, reply: Reply) -> None:
        """Raises an error for a refusal, an incomplete recording or a truncated reply."""
        if self.finish in _REFUSALS:
            said = f": {_shown(reply.text)}" if reply.text else ""
            raise Refused(f"the model declined to answer{said}", text=reply.text)
        if reply.finish == "left":
            raise ProviderError(
                "the stream was closed before this reply was recorded whole", hint="record it again"
            )
        needs_all = self.output.is_typed or bool(reply.tool_calls)
        if self.finish == "length" and (needs_all or self.settings.on_truncated == "error"):
            allow = "" if needs_all else '; `on_truncated: "accept"` accepts the cut text'
            hint = f"raise `max_tokens`, or ask for less{allow}"
            after = f"after {_shown(reply.text)}" if reply.text else "before it had any text"
            if not reply.text and (reply.reasoning_tokens or reply.opaque):
                after = "as its thinking used all of it"
                hint = f"lower `reasoning_effort`, or {hint}"
            raise TruncatedReply(
                f"the reply was cut by the token limit {after}", text=reply.text, hint=hint
            )

    def _check_value(self, check: Callable[[Any], object]) -> None:
        """Raises Unreadable with the reason if the prompt's check refuses the value."""
        from runtime_support._schema.rules import reason_against

        reason = reason_against(check, self.output.value)
        if reason is not None:
            self.output.forget()
            raise Unreadable(redacted(reason))

    def _note_cut(self, reply: Reply) -> None:
        if self.finish == "length":
            self.repairs.append("the text was cut by the token limit")
        elif self.finish not in _WHOLE:
            self.repairs.append(f"the reply ended with {_shown(self.finish)}")

    def _refuse_leaked_call(self, text: str) -> None:
        """Raises LeakedCall if the text of a reply contains a call of an offered tool."""
        tools = [*self.descriptions, *self.output.return_tools()]
        names = [name for tool in tools if (name := tool["function"]["name"]) in text]
        if not names or self.output.may_be_call:
            return
        from runtime_support._core.reader.leaked_calls import find_leaked_call

        leaked = find_leaked_call(text, names, is_text=not self.output.is_typed)
        if leaked is not None:
            raise LeakedCall(leaked)

    def _ask_again(self, reply: Reply, unreadable: Unreadable) -> None:
        reason = str(unreadable)
        self.note_attempt(reply.text, reason)
        reminder = unreadable.reminder or self.output.reminder(reason)
        self.messages.append(_text_message(reply))
        self.messages.append({"role": "user", "content": reminder})

    def note_attempt(self, text: str, reason: str) -> None:
        """Records an unusable reply.

        Raises ContractError after too many of them, or if parts of the value were already given to
        the reader of a stream.
        """
        self.attempts.append((text, reason))
        if len(self.attempts) <= self.settings.max_repairs and not self.output.has_given:
            if not any(note in reason for note in self.output.repairs):
                self.repairs.append(f"asked again: {reason}")
            return
        tries = len(self.attempts)
        state = self.output.state()
        answer = without_thinking(text).strip()
        raise ContractError(
            f"no usable reply after {tries} {'try' if tries == 1 else 'tries'}: {reason}"
            + (f"; {state}" if state else "")
            + (f"; the last reply was {_shown(answer)}" if answer else ""),
            attempts=tuple(self.attempts),
            values=dict(getattr(self.output, "arrived", {})),
            hint="show in the prompt what a valid answer looks like, or raise `max_repairs`",
        )


def _parts_of_step(parts: Parts, step: Wait | str) -> Steps[Any]:
    """Yields a wait unchanged. For a chunk of the reply, yields the parts that it completes."""
    if isinstance(step, Wait):
        return (yield step)
    yield from parts.feed(step)


def is_cut(reply: Reply) -> bool:
    """Whether a length limit has ended the reply."""
    return _finish_of(reply) == "length"


def _finish_of(reply: Reply) -> str:
    """Returns a word for how the reply ended. Words that mean the same become one word."""
    word = reply.finish.casefold()
    return _SAME.get(
        word, word if word in (*_REFUSALS, *_WHOLE, "length", "left") else reply.finish
    )


def _ending_with(content: Content, ending: str) -> Content:
    if isinstance(content, str):
        return f"{content}\n\n{ending}" if ending else content
    return load_part("media").ending_with(content, ending)


def _opening(
    content: Content, ending: str, system: str | None, earlier: Sequence[Message]
) -> list[Message]:
    user: Message = {"role": "user", "content": _ending_with(content, ending)}
    if system is None:
        return [*earlier, user]
    spoken = [message for message in earlier if message["role"] != "system"]
    return [{"role": "system", "content": system}, *spoken, user]


def _text_message(reply: Reply) -> Message:
    return AssistantMessage({"role": "assistant", "content": reply.text}, reply)


def _shown(text: str) -> str:
    text = redacted(text[: 20 * SHOWN])[:SHOWN]
    from runtime_support._values.kinds import brief

    return escaped(brief(text).removeprefix("string "))
