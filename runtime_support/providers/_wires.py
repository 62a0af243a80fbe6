"""What a wire is: the form in which one kind of server wants requests and gives replies.

    path, body = wire.render(request, form)                what is sent, as JSON data
    wire.READER(request, form, request_id).read(content)   the reply in the body of a response
    wire.READER(request, form, request_id).add(event)      a piece of a reply that is streamed
    without_lacking(wire.LACKS, "the wire ...", request)   the request as far as the wire has words

and how a try ends that has no reply: `Unanswered`, `Rejected`.

A wire is a module: a function and a class. Sending, waiting and asking again know none of them
(`_openai`), and neither do journals and recordings: a `Request` has one form, on whatever wire.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from runtime_support._core.messages import Origin, Request
from runtime_support._core.notes import note
from runtime_support.errors import ConfigError, ProviderError

if TYPE_CHECKING:
    import httpx2

    from runtime_support.providers._bodies import ReplyReader


@dataclass(frozen=True, slots=True)
class RequestForm:
    """How a request is sent: to whom, its schema enforced, its reply in pieces, these counted.

    `thoughts` asks for what the model has thought, encrypted, where a wire has it so.
    `has_new_limit` says that chat completions call `max_tokens` `max_completion_tokens`, of which
    the model gives `most_tokens` where that is known. Requests of one `cache_key` are kept
    together, so that the provider finds again what they share.
    """

    origin: Origin
    is_openai: bool  # at OpenAI's own address
    enforced: bool
    streamed: bool
    counted: bool
    thoughts: bool = True
    has_new_limit: bool = False
    most_tokens: int | None = None
    cache_key: str = ""

    def options(self, request: Request, default_limit: int | None = None) -> dict[str, Any]:
        """The sampling options of a request, which ask for no more tokens than the model gives."""
        options = dict(request.options)
        if default_limit is not None:
            options.setdefault("max_tokens", default_limit)
        if request.most_output is not None:
            least = request.most_output
            options["max_tokens"] = min(options.get("max_tokens", least), least)
        if self.most_tokens is not None and "max_tokens" in options:
            options["max_tokens"] = min(options["max_tokens"], self.most_tokens)
        return options


class Wire(Protocol):
    """What a wire has."""

    @property
    def NAME(self) -> str:
        """The name of the wire, as settings, journals and origins have it."""
        ...

    @property
    def LACKS(self) -> tuple[str, ...]:
        """The sampling options that the wire has no field for."""
        ...

    def render(self, request: Request, form: RequestForm) -> tuple[str, dict[str, Any]]:
        """The path below the address of the server, and the body."""
        ...

    @property
    def READER(self) -> type[ReplyReader]:
        """What reads a reply, whole or in events."""
        ...


def without_lacking(
    lacks: Collection[str], who: str, request: Request, *, hint: str | None = None
) -> Request:
    """The request without the options that somebody has no field for.

    One that the program has set is a ConfigError; one of the environment is reported once.
    """
    missing = [name for name in lacks if name in request.options]
    if not missing:
        return request
    for name in missing:
        said = f"{who} has no option `{name}`"
        if name not in request.ambient:
            advice = f"leave `{name}` out" + (f", {hint}" if hint else "")
            raise ConfigError(said, setting=name, hint=advice)
        if said not in _told:
            _told.add(said)
            note(f"{said}: it is left out")
    options = {name: one for name, one in request.options.items() if name not in missing}
    return replace(request, options=options)


# What was reported to the user.
_told: set[str] = set()


# Tries

# So much is shown of what a server says.
SHOWN = 300

# The server has too much to do; there is none at the address; or it went wrong this time.
Reason: TypeAlias = Literal["busy", "away", "broken"]


class Unanswered(Exception):
    """A try after which another may do; `wait` is how many seconds the server asks to wait."""

    def __init__(self, error: ProviderError, reason: Reason, wait: float | None = None) -> None:
        super().__init__(error)
        error.stays_away = reason != "broken"
        self.error = error
        self.reason = reason
        self.wait = wait


@dataclass(slots=True)
class Waited:
    """For how many seconds one prompt has waited for its server."""

    seconds: float = 0.0


class Rejected(Exception):
    """The server refused a request that may do in another form."""

    def __init__(self, error: ProviderError, words: str) -> None:
        super().__init__(str(error))
        self.error = error
        self.words = words


def request_id_of(response: httpx2.Response) -> str | None:
    """What the server calls the request, for which it has two names of headers."""
    return response.headers.get("x-request-id") or response.headers.get("request-id")
