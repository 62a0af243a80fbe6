"""The rounds of tool calls in a conversation: their limits, their messages, their repairs.

yield from ToolRounds(conversation).run(reply)      makes the calls of a reply
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from runtime_support._core.messages import (
    AssistantMessage,
    Message,
    Reply,
    ToolErrorMessage,
    ToolRequest,
)
from runtime_support._core.outputs.outputs import MORE_ROUNDS, NOT_ALL
from runtime_support._core.reader.replies import read_arguments
from runtime_support._core.results import ToolCall
from runtime_support._core.tasks.waits import Steps
from runtime_support._core.tools import ToolCaller, argument_repairs
from runtime_support._values.json_text import to_json
from runtime_support._values.kinds import brief
from runtime_support._values.names import listed
from runtime_support.errors import CheckError, ToolLimitError

if TYPE_CHECKING:
    from runtime_support._core.conversation import Conversation


# A limit that was exceeded, in words, and a hint.
_Limit: TypeAlias = tuple[int, str, str]


class ToolRounds:
    """Makes the tool calls of a conversation, reply by reply."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self.caller = ToolCaller(
            *(conversation.prompt, conversation.tools, conversation.parallel, conversation.events)
        )
        self._rounds = 0
        # Each call of a conversation has a unique id.
        earlier = (message.get("tool_calls", ()) for message in conversation.earlier)
        self._call_count = sum(map(len, earlier))

    def run(self, reply: Reply) -> Steps[None]:
        """Makes the calls of a reply; raises ToolLimitError if they exceed a limit."""
        talk = self._conversation
        output = talk.output
        ordinary = [call for call in reply.tool_calls if not output.handles(call)]
        passed = self._passed_limit(ordinary)
        if passed is not None:
            yield from self._keep_the_last(reply, passed)
            return
        self._rounds += 1
        talk.rounds += bool(ordinary)
        yield from self._make_calls(reply)
        if output.is_complete:
            return
        objection = output.problem()
        is_do = talk.rounds_allowed is not None
        if objection is None and is_do and not ordinary and not output.is_enough:
            objection = NOT_ALL
        if objection is None and ordinary and not talk.descriptions:
            called = listed([call.name for call in ordinary])
            objection = f"the reply calls {called}; no tool is on offer"
        if objection is not None:
            talk.note_attempt(reply.text, objection)

    def _make_calls(self, reply: Reply) -> Steps[None]:
        talk = self._conversation
        numbered = enumerate(reply.tool_calls, self._call_count + 1)
        identified = [(f"call{number:05d}", call) for number, call in numbered]
        self._call_count += len(identified)
        # These ids make requests repeatable; the wire replaces them by the reply's own.
        talk.messages.append(_calls_message(reply, identified))
        ordinary = [call for _, call in identified if not talk.output.handles(call)]
        calls = iter((yield from self._call_tools(ordinary)))
        for identity, call in identified:
            talk.repairs += self._read_repairs(call)
            if talk.output.handles(call):
                answer = talk.output.receive(call)
                # The output starts its answer so if it refuses a value.
                failed = answer.startswith("error: ")
            else:
                made = next(calls)
                failed = made.result is None
                answer = f"error: {made.error}" if made.result is None else made.result
            message = {"role": "tool", "tool_call_id": identity, "content": answer}
            talk.messages.append(ToolErrorMessage(message) if failed else message)

    def _call_tools(self, wanted: Sequence[ToolRequest]) -> Steps[list[ToolCall]]:
        """Makes the calls and records them in the conversation.

        If a call stops the script, the calls before it are recorded, too.
        """
        made: list[ToolCall] = []
        try:
            yield from self.caller.call_all(wanted, made)
        finally:
            self._conversation.calls += made
        return made

    def _passed_limit(self, ordinary: list[ToolRequest]) -> _Limit | None:
        """Returns the limit that a round with these calls would exceed, or None.

        `ordinary` holds the calls of tools that are not return tools.
        """
        talk = self._conversation
        if ordinary and talk.ordinary_rounds_are_over:
            allowed = talk.rounds_allowed or 0
            what = f"the model called a tool after its last round ({allowed} allowed)"
            return allowed, what, MORE_ROUNDS
        rounds, calls = talk.settings.max_tool_rounds, talk.settings.max_tool_calls
        if self._rounds >= rounds:
            what = f"more than {rounds} rounds of tool calls"
            return rounds, what, "raise `max_tool_rounds` if the prompt needs more"
        if len(talk.calls) + len(ordinary) > calls:
            what = f"more than {calls} tool calls"
            return calls, what, "raise `max_tool_calls` if the prompt needs more"
        return None

    def _keep_the_last(self, reply: Reply, passed: _Limit) -> Steps[None]:
        """Makes only the calls of return tools in a reply that exceeds a limit.

        Raises a ToolLimitError unless these calls complete the output.
        """
        talk = self._conversation
        handed_in = [call for call in reply.tool_calls if talk.output.handles(call)]
        if handed_in:
            yield from self._make_calls(replace(reply, tool_calls=tuple(handed_in)))
        if talk.output.is_complete:
            left = [call.name for call in reply.tool_calls if call not in handed_in]
            if left:
                talk.repairs.append(f"not called, as nothing was missing: {listed(left)}")
            return
        last = f"; the last was {_call_text(talk.calls[-1])}" if talk.calls else ""
        state = talk.output.state()
        bound, what, hint = passed
        raise ToolLimitError(what + last + (f"; {state}" if state else ""), limit=bound, hint=hint)

    def _read_repairs(self, call: ToolRequest) -> list[str]:
        """Describes the repairs that were needed to read a tool call's arguments."""
        tool = self._conversation.tools.get(call.name)
        found = () if tool is None else argument_repairs(tool, call.arguments)
        return [f"{call.name}: {repair}" for repair in found]


def _calls_message(reply: Reply, identified: list[tuple[str, ToolRequest]]) -> Message:
    calls = [
        {
            "id": identity,
            "type": "function",
            "function": {"name": call.name, "arguments": _sendable(call.arguments)},
        }
        for identity, call in identified
    ]
    content = reply.text or None
    return AssistantMessage({"role": "assistant", "content": content, "tool_calls": calls}, reply)


def _sendable(arguments: str) -> str:
    """Returns the arguments as a valid JSON object, because servers refuse any other text."""
    try:
        read, repairs = read_arguments(arguments)
    except CheckError:
        return "{}"
    return to_json(read) if repairs or not read else arguments


def _call_text(call: ToolCall) -> str:
    return f"{call.tool} {brief(call.args).removeprefix('object ')}"
