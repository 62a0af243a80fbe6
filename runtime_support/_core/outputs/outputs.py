"""The outputs of prompts: text, a typed value, or several named fields.

An output extends the prompt and its requests, handles calls of its return tools, and judges the
replies that end a turn:

    output.ending()                returns the lines after the prompt
    output.return_tools()          returns tools by which the model hands in values
    output.receive(call)           handles a call of such a tool; returns the answer to the model
    output.problem()               returns why the calls of the last reply are not enough, or None
    output.accept(text)            takes a reply without calls; returns None, or work to do before
                                   it can be judged; raises Unreadable with the reason
    output.is_complete             whether the whole value has arrived
    output.value                   the value
    output.is_enough               whether the model may stop: no required field is missing

Text is here; typed values are in `contracts`, fields in `fields`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from runtime_support._core.messages import ToolRequest
from runtime_support._values.predicates import without_halves
from runtime_support.errors import CheckError

if TYPE_CHECKING:
    from runtime_support._core.hooks import RequestedCall
    from runtime_support._core.outputs.contracts import Contract
    from runtime_support._core.results import ToolCall

RETURN_PREFIX = "__saft_return_"
NOT_ALL = "not every field was handed in"
MORE_ROUNDS = "allow more `rounds` if it may use them more often"

_NOTHING = object()
_EMPTY = "the reply is empty"


class Unreadable(Exception):
    """The reply does not satisfy the contract.

    The error's text lists all mistakes with their paths. `reminder` is the message to the model. If
    it is None, the output writes the message.
    """

    reminder: str | None = None


class LeakedCall(Unreadable):
    """The model wrote a tool call as text, so that nothing was called."""

    def __init__(self, tool: str) -> None:
        super().__init__(f"a call of `{tool}` was written as text")
        self.reminder = (
            f"That reply has a call of `{tool}` as text, which calls nothing. "
            "Call the tool by the interface, or answer without it."
        )


def without_thinking(text: str) -> str:
    """Returns the text without blocks of thinking."""
    if "<" not in text:
        return text
    from runtime_support._core.reader.around import without_thinking  # seldom needed, and not small

    return without_thinking(text)


class Work(Protocol):
    """Work to do before a reply can be judged, such as running a program."""

    @property
    def waits(self) -> tuple[Any, list[str]] | None:
        """The program, and the names of its functions that need approval.

        It is None if no function needs approval.
        """
        ...

    def do(self, call: RequestedCall) -> Any:
        """Does the work as part of this call. Returns the outcome or the failure as data."""
        ...

    def refused(self, reason: str) -> Any:
        """Returns the outcome of work that was not approved."""
        ...

    def calls(self, outcome: Any) -> list[ToolCall]:
        """Returns the function calls that the work made."""
        ...

    def judge(self, outcome: Any) -> None:
        """Passes the outcome to the output, or raises Unreadable with the reason."""
        ...


class Output:
    """The base class of outputs. It has no return tools; see the module for its methods."""

    is_typed = True
    # Whether the value may be an object that looks like a tool call.
    may_be_call = False
    # Whether the prompt offers tools, so that a text may be a leaked call.
    has_tools = False
    # Whether the value is a tuple of several fields.
    is_several = False

    def __init__(self) -> None:
        self.repairs: list[str] = []
        self.found: Any = _NOTHING
        # A streamed reply has given parts to the reader: the model cannot be asked again.
        self.has_given = False

    @property
    def contract(self) -> Contract | None:
        return None

    @property
    def is_complete(self) -> bool:
        return self.found is not _NOTHING

    def forget(self) -> None:
        """Drops the value, since the prompt's check refuses it."""
        self.found = _NOTHING

    @property
    def is_enough(self) -> bool:
        return self.is_complete

    @property
    def value(self) -> Any:
        return self.found

    def ending(self) -> str:
        return ""

    def return_tools(self) -> list[dict[str, Any]]:
        return []

    def without_tools(self) -> Output | None:
        """Returns an output for the same value that has no return tools.

        Returns None if this output itself has no return tools.
        """
        return None

    def handles(self, call: ToolRequest) -> bool:
        return False

    def receive(self, call: ToolRequest) -> str:
        raise LookupError(call.name)

    def problem(self) -> str | None:
        """Returns why the calls of return tools since the last check are not enough, or None."""
        return None

    def accept(self, text: str) -> Work | None:
        raise NotImplementedError

    def reminder(self, reason: str) -> str:
        raise NotImplementedError

    def state(self) -> str:
        return ""


class TextOutput(Output):
    """Any text that is not empty.

    Thinking before the text is removed. A reply that is one JSON string is decoded.
    """

    is_typed = False

    def accept(self, text: str) -> None:
        if not text.strip():
            raise Unreadable(_EMPTY)
        if text.lstrip()[0] in '<"':
            from runtime_support._core.reader.replies import read_text

            try:
                text, repairs = read_text(text)
            except CheckError as error:
                raise Unreadable(str(error)) from None
            self.repairs.extend(repairs)
        self.found = without_halves(text)
        if self.found != text:
            self.repairs.append("half of a surrogate pair was replaced by U+FFFD")

    def reminder(self, reason: str) -> str:
        if reason == _EMPTY:
            return "Your reply was empty. Please answer."
        return f"That reply cannot be used: {reason}. Please answer again."
