"""Renders the previews of prompts' requests as data, JSON and text such as this:

triage.saft:20:9: prompt
user:
  Read this mail and fill in a ticket:
  «mail»
"""

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

if TYPE_CHECKING:
    from runtime_support.providers._showing import Sent

_KINDS = {
    **{"plain": "prompt", "do": "prompt with one round of tools", "program": "program"},
    "call": "call of a function of another script, which asks",
}
_WIDTH = 88


@dataclass(frozen=True, slots=True)
class Hole:
    """A part of a request whose value is known only when the script runs.

    The preview shows the text `mark` in place of the value. `may_be_function` is true if the
    value's type allows functions. If the value is a function, the request has the name of a tool.
    """

    mark: str
    source: str
    position: str
    may_be_function: bool = False


@dataclass(frozen=True, slots=True)
class Enforced:
    """How far a server can enforce the requested type of a prompt.

    With `is_strict`, the server enforces the type fully. Otherwise `losses` are the parts that are
    not enforced. With `is_wrapped`, the type is not an object, and the value is requested as the
    field `value` of an object.
    """

    is_strict: bool
    losses: tuple[str, ...]
    is_wrapped: bool


@dataclass(frozen=True, slots=True)
class Requests:
    """An upper bound for the requests of a prompt. `most` is a formula, and `words` explain it.

    If no bound is known, `most` is None, and `words` say why.
    """

    most: str | None
    words: str


@dataclass(frozen=True, slots=True)
class Preview:
    """The preview of one prompt, or of a call of a prompting function in another script.

    `request` is the first request that the prompt sends. It is None if `error` prevents the
    request. `overlap` says for each place that runs the prompt whether it overlaps with others, and
    if not, why. In the preview of a call, `mode` is "call", and only `position` and `overlap` are
    set.
    """

    position: str
    mode: Literal["plain", "do", "program", "call"]
    request: dict[str, Any] | None
    holes: tuple[Hole, ...]
    notes: tuple[str, ...]
    error: str | None = None
    overlap: tuple[str, ...] = ()
    enforced: Enforced | None = None
    on_wire: "Sent | None" = None
    requests: Requests | None = None


def as_json(previews: list[Preview]) -> str:
    """The previews as a JSON list."""
    return json.dumps([_data(one) for one in previews], ensure_ascii=False, indent=2) + "\n"


def as_text(previews: list[Preview]) -> str:
    """The previews as text for people, separated by blank lines."""
    return "\n".join("\n".join(_lines(one)) + "\n" for one in previews)


def as_sent(previews: list[Preview]) -> str:
    """The requests in the format that servers get: method, address, headers and body."""
    return "\n".join("\n".join(_sent(one)) + "\n" for one in previews)


def _sent(one: Preview) -> Iterator[str]:
    yield f"{one.position}: {_KINDS[one.mode]}"
    if one.error is not None:
        yield f"cannot be sent: {one.error}"
    if one.on_wire is not None:
        yield f"{one.on_wire.method} {one.on_wire.url}"
        yield from (f"{name}: {value}" for name, value in one.on_wire.headers)
        yield ""
        yield one.on_wire.body


def _data(one: Preview) -> dict[str, Any]:
    return {
        "position": one.position,
        "mode": one.mode,
        "request": one.request,
        "holes": [asdict(hole) for hole in one.holes],
        "notes": list(one.notes),
        "error": one.error,
        "overlap": "; ".join(one.overlap) or None,
        "enforced": None if one.enforced is None else asdict(one.enforced),
        "requests": None if one.requests is None else asdict(one.requests),
        **({} if one.on_wire is None else {"raw": asdict(one.on_wire)}),
    }


def _lines(one: Preview) -> Iterator[str]:
    yield f"{one.position}: {_KINDS[one.mode]}"
    if one.error is not None:
        yield f"  cannot be sent: {one.error}"
    for name, part in (one.request or {}).items():
        if name == "messages":
            for message in part:
                yield f"  {message['role']}:"
                content = message["content"]
                parts = [content] if isinstance(content, str) else content
                for part in parts:
                    yield from _indented(_part_text(part))
        else:
            enforced = one.enforced if name == "schema" else None
            is_wrapped = enforced is not None and enforced.is_wrapped
            yield f"  {name}, as `value` of an object:" if is_wrapped else f"  {name}:"
            yield from _indented(part if isinstance(part, str) else _written(part))
            if enforced is not None:
                yield f"  strict: {_strict_text(enforced)}"
    if one.requests is not None and one.requests.most is not None:
        yield f"  requests: at most {one.requests.most} ({one.requests.words})"
    elif one.requests is not None:
        yield f"  requests: any number: {one.requests.words}"
    for told in one.overlap:
        yield f"  overlap: {told}"
    for note in one.notes:
        yield f"  note: {note}"


def _strict_text(enforced: Enforced) -> str:
    return "true" if enforced.is_strict else f"false, as {' and '.join(enforced.losses)}"


def _part_text(part: str | dict[str, Any]) -> str:
    """The text of a part of a message. Another part, such as an image, is written as JSON."""
    if isinstance(part, str):
        return part
    return part["text"] if part["type"] == "text" else json.dumps(part, ensure_ascii=False)


def _indented(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        yield f"    {line}" if line else ""


def _written(data: Any, margin: str = "") -> str:
    """Formats data as JSON, with line breaks only in parts that do not fit in a line."""
    line = json.dumps(data, ensure_ascii=False)
    if len(margin) + len(line) <= _WIDTH or not data or not isinstance(data, dict | list):
        return line
    inner = margin + "  "
    if isinstance(data, dict):
        parts = [
            f"{inner}{json.dumps(key, ensure_ascii=False)}: {_written(value, inner)}"
            for key, value in cast("dict[str, Any]", data).items()
        ]
    else:
        parts = [inner + _written(value, inner) for value in cast("list[Any]", data)]
    opening, closing = "{}" if isinstance(data, dict) else "[]"
    return opening + "\n" + ",\n".join(parts) + "\n" + margin + closing
