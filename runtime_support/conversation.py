"""One call of `prompt`, from the first request to the value.

    Conversation(text, tools, goal, settings, provider).run()  ->  the goal is reached, or an error

The whole transcript goes out with each request. A reply with calls of tools is a round: the calls
are run in order and answered. Any other reply ends a turn: it reaches the goal, or the model is
told why not and asked again, as often as `repairs` says.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runtime_support.config import Settings
from runtime_support.errors import (
    CheckError,
    ContractError,
    PromptError,
    Refused,
    ToolLimitError,
    TruncatedReply,
)
from runtime_support.exchange import Message, Provider, Reply, Request, ToolRequest
from runtime_support.goals import Goal, Unreadable, without_thinking
from runtime_support.media import Content, ending_with
from runtime_support.results import ToolCall, Usage
from runtime_support.tools import Tool, call_tool, read_arguments
from runtime_support.tracing import Observer
from runtime_support.values import brief

_REFUSALS = ("refusal", "content_filter")
SHOWN = 200


@dataclass(frozen=True, slots=True)
class _Limit:
    """A bound that was passed, in words, with what to try."""

    bound: int
    what: str
    hint: str


class Conversation:
    """The state of one call; nothing of it outlives the call."""

    def __init__(
        self,
        content: Content,
        tools: Mapping[str, Tool],
        goal: Goal,
        settings: Settings,
        provider: Provider,
        rounds: int | None,
        observer: Observer,
    ) -> None:
        self.goal = goal
        self.tools = tools
        self.settings = settings
        self.provider = provider
        self.rounds_allowed = rounds
        self.observer = observer
        self.descriptions = [tool.description() for tool in tools.values()]
        self.messages = _opening(content, goal.ending(), settings.system)
        self.calls: list[ToolCall] = []
        self.call_count = 0
        self.rounds = 0
        self.tool_rounds = 0
        self.attempts: list[tuple[str, str]] = []
        self.repairs: list[str] = []
        self.usage = Usage()
        self.model = settings.model or ""
        self.text = ""

    def run(self) -> None:
        """Asks until the goal is reached, or raises a PromptError."""
        try:
            while not self.goal.is_reached:
                reply = self._ask()
                self._examine(reply)
                if reply.tool_calls:
                    self._run_tools(reply)
                else:
                    self._end_turn(reply)
        except PromptError as error:
            error.tool_calls = tuple(self.calls)
            raise
        self.repairs.extend(self.goal.repairs)

    def request(self) -> Request:
        """The request that is sent next."""
        returns = self.goal.return_tools()
        is_over = self._ordinary_rounds_are_over
        ordinary = [] if is_over and returns else self.descriptions
        contract = self.goal.contract
        schema = contract.json_schema if contract is not None else None
        return Request(
            messages=tuple(self.messages),
            model=self.settings.model,
            tools=(*ordinary, *returns),
            must_answer=is_over and bool(ordinary),
            schema=None if self.settings.structured == "off" else schema,
            is_strict=contract is not None and contract.is_strict,
            structured=self.settings.structured,
            options=self.settings.sampling(),
        )

    @property
    def _ordinary_rounds_are_over(self) -> bool:
        return self.rounds_allowed is not None and self.tool_rounds >= self.rounds_allowed

    def _ask(self) -> Reply:
        request = self.request()
        self.observer.sent(request)
        reply = self.provider.complete(request)
        self.observer.received(reply)
        self.usage += Usage(reply.input_tokens, reply.output_tokens, 1)
        self.model = reply.model or self.model
        self.text = reply.text
        return reply

    def _examine(self, reply: Reply) -> None:
        """What cannot be worked with at all."""
        if reply.finish in _REFUSALS:
            said = f": {_shown(reply.text)}" if reply.text else ""
            raise Refused(f"the model declined to answer{said}", text=reply.text)
        needs_all = self.goal.is_typed or bool(reply.tool_calls)
        if reply.finish == "length" and needs_all:
            raise TruncatedReply(
                f"the reply was cut by the token limit after {_shown(reply.text)}",
                text=reply.text,
                hint="raise `max_tokens`, or ask for less",
            )

    def _run_tools(self, reply: Reply) -> None:
        ordinary = [call for call in reply.tool_calls if not self.goal.takes(call)]
        passed = self._passed_limit(ordinary)
        if passed is not None:
            self._keep_the_last(reply, passed, is_all=not ordinary)
            return
        self.rounds += 1
        self.tool_rounds += bool(ordinary)
        started = self.call_count
        identified = [
            (f"call{number:05d}", call) for number, call in enumerate(reply.tool_calls, started + 1)
        ]
        self.call_count += len(identified)
        # Not the reply's own ids: servers omit or repeat them, and these make requests repeatable.
        self.messages.append(_calls_message(reply.text, identified))
        for identity, call in identified:
            answer = self.goal.keep(call) if self.goal.takes(call) else self._run_tool(call)
            self.messages.append({"role": "tool", "tool_call_id": identity, "content": answer})
        is_do = self.rounds_allowed is not None
        if is_do and not ordinary and not self.goal.is_reached:
            self._note_attempt(reply.text, "not every field was handed in")

    def _run_tool(self, call: ToolRequest) -> str:
        made = call_tool(self.tools, call.name, call.arguments)
        self.observer.called(made)
        self.calls.append(made)
        return made.result if made.result is not None else f"error: {made.error}"

    def _passed_limit(self, ordinary: list[ToolRequest]) -> _Limit | None:
        """The limit that a round with these ordinary calls would pass."""
        if ordinary and self._ordinary_rounds_are_over:
            allowed = self.rounds_allowed or 0
            what = f"the model asks for tools after its {allowed} round"
            return _Limit(allowed, what, "leave out `do` if it may use them more often")
        rounds = self.settings.max_tool_rounds
        if self.rounds >= rounds:
            what = f"more than {rounds} rounds of tool calls"
            return _Limit(rounds, what, "raise `max_tool_rounds` if so many are meant")
        calls = self.settings.max_tool_calls
        if len(self.calls) + len(ordinary) > calls:
            what = f"more than {calls} tool calls"
            return _Limit(calls, what, "raise `max_tool_calls` if so many are meant")
        return None

    def _keep_the_last(self, reply: Reply, passed: _Limit, is_all: bool) -> None:
        """Of the reply that passes a limit: what it hands in may be all that was open."""
        for call in reply.tool_calls:
            if self.goal.takes(call):
                self.goal.keep(call)
        if self.goal.is_reached and is_all:
            return
        last = f"; the last was {_call_text(self.calls[-1])}" if self.calls else ""
        state = self.goal.state()
        raise ToolLimitError(
            passed.what + last + (f"; {state}" if state else ""),
            limit=passed.bound,
            hint=passed.hint,
        )

    def _end_turn(self, reply: Reply) -> None:
        try:
            self.goal.accept(reply.text)
        except Unreadable as unreadable:
            reason = str(unreadable)
        else:
            if reply.finish == "length":
                self.repairs.append("the text was cut by the token limit")
            return
        self._note_attempt(reply.text, reason)
        self.messages.append({"role": "assistant", "content": reply.text})
        self.messages.append({"role": "user", "content": self.goal.reminder(reason)})

    def _note_attempt(self, text: str, reason: str) -> None:
        """Counts a reply that did not do; too many are the end."""
        self.attempts.append((text, reason))
        if len(self.attempts) <= self.settings.repairs:
            self.repairs.append(f"asked again: {reason}")
            return
        tries = len(self.attempts)
        state = self.goal.state()
        answer = without_thinking(text).strip()
        raise ContractError(
            f"no usable reply after {tries} {'try' if tries == 1 else 'tries'}: {reason}"
            + (f"; {state}" if state else "")
            + (f"; the last reply was {_shown(answer)}" if answer else ""),
            attempts=tuple(self.attempts),
            values=dict(getattr(self.goal, "arrived", {})),
            hint="say in the prompt what form the answer has, or raise `repairs`",
        )


def _opening(content: Content, ending: str, system: str | None) -> list[Message]:
    user: Message = {"role": "user", "content": ending_with(content, ending)}
    return [user] if system is None else [{"role": "system", "content": system}, user]


def _calls_message(text: str, identified: list[tuple[str, ToolRequest]]) -> Message:
    return {
        "role": "assistant",
        "content": text or None,
        "tool_calls": [
            {
                "id": identity,
                "type": "function",
                "function": {"name": call.name, "arguments": _sendable(call.arguments)},
            }
            for identity, call in identified
        ],
    }


def _sendable(arguments: str) -> str:
    """Servers read the arguments again, and fail on what is no JSON object."""
    try:
        read_arguments(arguments)
    except CheckError:
        return "{}"
    return arguments or "{}"


def _call_text(call: ToolCall) -> str:
    return f"{call.tool} {brief(call.args).removeprefix('object ')}"


def _shown(text: str) -> str:
    return brief(text if len(text) <= SHOWN else text[:SHOWN]).removeprefix("string ")
