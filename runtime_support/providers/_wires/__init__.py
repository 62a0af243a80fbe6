"""A wire is an adapter: it translates requests and replies of one API.

    wire = wire_named("chat")
    path, body = wire.render(request, form)                the path and the JSON body
    wire.reader(request, form, request_id).read(content)   the reply in the body of a response
    drop_unsupported(wire.lacks, "the wire ...", request)   the request without unsupported options

`Rejected` is the error of an attempt that the server may accept in another form.

Each wire is the `WIRE` of a module. The code that sends, waits and retries (`_openai`) does not
depend on the wire, nor do journals and recordings, because a `Request` is the same for all wires.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from runtime_support._core.messages import Origin, Request
from runtime_support._core.notes import note_once
from runtime_support.errors import ConfigError, ProviderError

if TYPE_CHECKING:
    import httpx2

    from runtime_support.providers._wires.bodies import ReplyReader


@dataclass(frozen=True, slots=True)
class RequestForm:
    """The form in which a request is sent.

    - `origin` is the API, the server and the model.
    - `enforced` is true if the server is asked to enforce the schema of the reply.
    - `streamed` requests a stream of events. `counted` requests the token counts of a stream.
    - `thoughts` requests encrypted reasoning, if the wire supports it.
    - `has_new_limit` calls the limit `max_completion_tokens`, not `max_tokens`, in the API `chat`.
    - `most_tokens` is the highest limit that the server accepts for the model, if known.
    - `cache_key`: providers send requests with the same key to one machine, to share its cache.
    """

    origin: Origin
    is_openai: bool  # at OpenAI's own address
    enforced: bool
    streamed: bool
    counted: bool = True
    thoughts: bool = True
    has_new_limit: bool = False
    most_tokens: int | None = None
    cache_key: str = ""

    def options(self, request: Request, default_limit: int | None = None) -> dict[str, Any]:
        """Returns the request's options, with `max_tokens` lowered to the known limits.

        The limits are `most_output` and `most_tokens`. `default_limit` is the value of `max_tokens`
        if the request has none.
        """
        options = dict(request.options)
        if default_limit is not None:
            options.setdefault("max_tokens", default_limit)
        if request.most_output is not None:
            least = request.most_output
            options["max_tokens"] = min(options.get("max_tokens", least), least)
        if self.most_tokens is not None and "max_tokens" in options:
            options["max_tokens"] = min(options["max_tokens"], self.most_tokens)
        return options


class Wire(NamedTuple):
    """Translates requests and replies of one API.

    - `name` is the name of the API in settings, journals and origins.
    - `lacks` are the sampling options that the API does not support.
    - `render` returns the path below the server's address, and the JSON body.
    - `reader` is the class that reads the body of a reply.
    """

    name: str
    lacks: tuple[str, ...]
    render: Callable[[Request, RequestForm], tuple[str, dict[str, Any]]]
    reader: type[ReplyReader]


def wire_named(name: str) -> Wire:
    """Returns the wire of this name; imports its module at the first use."""
    wire: Wire = import_module(f"{__package__}.{name}").WIRE
    return wire


def drop_unsupported(
    lacks: Collection[str], who: str, request: Request, *, hint: str | None = None
) -> Request:
    """Returns the request without the options in `lacks`; messages call the API or model `who`.

    Raises ConfigError for an option that the program sets. An option from the environment is
    dropped, which is reported once.
    """
    missing = [name for name in lacks if name in request.options]
    if not missing:
        return request
    for name in missing:
        said = f"{who} has no option `{name}`"
        if name not in request.ambient:
            advice = f"leave `{name}` out" + (f", {hint}" if hint else "")
            raise ConfigError(said, setting=name, hint=advice)
        note_once(said, f"{said}: it is left out")
    options = {name: one for name, one in request.options.items() if name not in missing}
    return replace(request, options=options)


# Attempts

# How many characters of a server's message are shown.
SHOWN = 300


@dataclass(slots=True)
class Waited:
    """The seconds that one prompt has waited for its server."""

    seconds: float = 0.0


class Rejected(Exception):
    """The server rejected a request that it may accept in another form."""

    def __init__(self, error: ProviderError, words: str) -> None:
        super().__init__(str(error))
        self.error = error
        self.words = words


def request_id_of(response: httpx2.Response) -> str | None:
    """Returns the server's id of the request, which is in one of two headers."""
    return response.headers.get("x-request-id") or response.headers.get("request-id")
