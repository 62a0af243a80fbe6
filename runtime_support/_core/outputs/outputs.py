"""What a prompt is to give: text, a typed value, or several named fields.

An output says what the first message and each request carry for it, takes the calls that are meant
for it, and judges the replies that end a turn:

    output.ending()                the lines after the prompt
    output.return_tools()          tools by which the model hands in values
    output.keep(call)              a call of such a tool: the answer that the model gets
    output.objection()             after the calls of a reply: why they do not do, if they do not
    output.accept(text)            a reply without calls: nothing, or work to do before it can be
                                   judged; Unreadable with the reason
    output.is_complete             whether all is there
    output.value                   what it is
    output.is_enough               whether the model may stop: what is open may stay away

Text is here; a typed value is in `_contracts`, fields are in `_fields`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from runtime_support._core.messages import ToolRequest
from runtime_support._core.results import ToolCall
from runtime_support._values.kinds import without_halves
from runtime_support.errors import CheckError

if TYPE_CHECKING:
    from runtime_support._core.hooks import RequestedCall
    from runtime_support._core.outputs.contracts import Contract

RETURN_PREFIX = "__saft_return_"
NOT_ALL = "not every field was handed in"

_NOTHING = object()
_EMPTY = "the reply is empty"


class Unreadable(Exception):
    """The reply does not satisfy the contract; the text tells all that is wrong, with its paths.

    `reminder` is what the model is told, where that is not the business of the output.
    """

    reminder: str | None = None


class LeakedCall(Unreadable):
    """A call of a tool was written as text, so that nothing was called."""

    def __init__(self, tool: str) -> None:
        super().__init__(f"a call of `{tool}` was written as text")
        self.reminder = (
            f"That reply has a call of `{tool}` as text, which calls nothing. "
            "Call the tool by the interface, or answer without it."
        )


def without_thinking(text: str) -> str:
    """The text without the blocks in which a model thinks aloud."""
    if "<" not in text:
        return text
    from runtime_support._core.reader.around import without_thinking  # seldom needed, and not small

    return without_thinking(text)


class Work(Protocol):
    """What has to be done before a reply can be judged, such as running a program."""

    @property
    def waits(self) -> tuple[Any, list[str]] | None:
        """The program and the functions in it that wait for approval, where there are such."""
        ...

    def do(self, call: RequestedCall) -> Any:
        """Does it, as this call; the outcome is data, also when it failed."""
        ...

    def refused(self, reason: str) -> Any:
        """The outcome when it must not be done."""
        ...

    def calls(self, outcome: Any) -> list[ToolCall]:
        """The calls of functions that were made by it."""
        ...

    def judge(self, outcome: Any) -> None:
        """Gives the output what came of it, or raises Unreadable with the reason."""
        ...


class Output:
    """See the module's docstring; this one has no return tools."""

    is_typed = True
    # Whether an object with the name of a tool and its arguments may be the value.
    may_be_call = False
    # Whether tools are on offer, so that a text may be a call of one.
    has_tools = False
    # Whether the value is those of several fields.
    is_several = False

    def __init__(self) -> None:
        self.repairs: list[str] = []
        self.found: Any = _NOTHING
        # Of a reply that comes in pieces: it is what it is, and is not asked for again.
        self.has_given = False

    @property
    def contract(self) -> Contract | None:
        return None

    @property
    def is_complete(self) -> bool:
        return self.found is not _NOTHING

    def forget(self) -> None:
        """Takes back the value, as the prompt's check refuses it."""
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
        """The same for a model that is given no tools; None where it needs none."""
        return None

    def takes(self, call: ToolRequest) -> bool:
        return False

    def keep(self, call: ToolRequest) -> str:
        raise LookupError(call.name)

    def objection(self) -> str | None:
        """Why the calls of return tools since it was asked last do not do, if they do not."""
        return None

    def accept(self, text: str) -> Work | None:
        raise NotImplementedError

    def reminder(self, reason: str) -> str:
        raise NotImplementedError

    def state(self) -> str:
        return ""


class TextOutput(Output):
    """Any text that is not empty; thinking before it is left out, and of a reply that is one JSON
    string it is what that holds.
    """

    is_typed = False

    def accept(self, text: str) -> None:
        if not text.strip():
            raise Unreadable(_EMPTY)
        if text.lstrip()[0] in '<"':
            from runtime_support._core.reader import read_text

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
