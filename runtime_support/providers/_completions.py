"""Chat completions on the wire: the form of a schema, a reply, and the error of a response.

    response_format({"type": "integer"}, is_strict=True)    the field of that name
    read_reply(b'{"choices": ...}', "gpt-4o-mini")          Reply("...")
    Gathered(model, ...).add({"choices": [{"delta": ...}]})    a piece of a reply that is streamed
    error_of(response, "https://api.openai.com/v1")         RateLimited("... answered 429: ...")
    NO_TOOLS.search("gemma:2b does not support tools")      a refusal of tools, whatever they are

What servers and models wrote stands in errors redacted, escaped and cut; a key never does. What a
server does not take is told from other mistakes by what servers are known to say: OpenAI, Azure,
OpenRouter, Groq, Mistral, DeepSeek, vLLM, llama.cpp, Ollama, LM Studio. The words are searched in
lower case.
"""

from __future__ import annotations

import email.utils
import json
import re
import time
from typing import Any

import httpx2

from runtime_support._exchange import Reply, ToolRequest
from runtime_support._jsontext import without_halves
from runtime_support._redaction import shown
from runtime_support._values import is_list, is_object
from runtime_support.errors import AuthenticationFailed, ProviderError, RateLimited

SHOWN = 300

# Only the beginning of a body is looked through for what can be shown of it.
_LOOKED_THROUGH = 65_536

_WRAPPING = re.compile(r'\s*\{\s*"value"\s*:')

_USED_UP = re.compile(
    r"insufficient_quota|exceeded your current quota|billing_hard_limit"
    r"|insufficient (credits|balance)"
)


def response_format(schema: dict[str, Any], is_strict: bool) -> dict[str, Any]:
    """The schema as a response format; a root that is not an object is wrapped in `value`."""
    document = schema
    if not is_object_root(schema):
        inner = {name: part for name, part in schema.items() if name != "$defs"}
        document = {
            "type": "object",
            "properties": {"value": inner},
            "required": ["value"],
            "additionalProperties": False,
        }
        if "$defs" in schema:
            document["$defs"] = schema["$defs"]
    return {
        "type": "json_schema",
        "json_schema": {"name": "reply", "schema": document, "strict": is_strict},
    }


def read_reply(content: bytes, model: str, wrapped: bool, request_id: str | None) -> Reply:
    """The reply in the body of a response; ProviderError when it is not one."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        raise ProviderError(
            f"the server's answer is not JSON: {_excerpt(content)}", request_id=request_id
        ) from None
    if not is_object(body):
        raise _unexpected(content, request_id)
    if is_object(body.get("error")):
        raise reported(body["error"], request_id)
    choice = _first_choice(body)
    message = choice.get("message")
    if not is_object(message):
        raise _unexpected(content, request_id)
    return _reply(body, choice, message, model, wrapped, request_id)


class Gathered:
    """The chunks of a completion that is streamed, and what they come to."""

    def __init__(self, model: str, wrapped: bool, request_id: str | None) -> None:
        self._origin = model, wrapped, request_id
        self._body: dict[str, Any] = {}
        self._texts: list[str] = []
        self._refusals: list[str] = []
        self._calls: dict[Any, dict[str, str]] = {}
        self._finish: Any = None
        # The half of a surrogate pair, and what may turn out to be `{"value": `.
        self._half = self._opening = ""
        self._is_open = not wrapped

    @property
    def text(self) -> str:
        """The text until now."""
        return "".join(self._texts)

    @property
    def is_whole(self) -> bool:
        """Whether the server has said that this is all."""
        return self._finish is not None

    def add(self, chunk: Any) -> str:
        """Takes a chunk; what it has of the text."""
        if not is_object(chunk):
            raise _unexpected(str(chunk).encode(), self._origin[2])
        self._body.update({key: chunk[key] for key in ("model", "usage") if chunk.get(key)})
        choice = _first_choice(chunk)
        self._finish = choice.get("finish_reason") or self._finish
        # Some servers send the whole message in one chunk.
        delta = _object_at(choice, "delta") or _object_at(choice, "message")
        if delta.get("refusal"):
            self._refusals.append(str(delta["refusal"]))
        self._add_calls(delta.get("tool_calls"))
        return self._add_text(_text_of(delta.get("content")))

    def reply(self) -> Reply:
        """What all chunks come to."""
        message: dict[str, Any] = {
            "content": self.text + self._half,
            "refusal": "".join(self._refusals),
            "tool_calls": [{"function": call} for call in self._calls.values()],
        }
        choice = {"finish_reason": self._finish}
        return _reply(self._body, choice, message, *self._origin)

    def _add_text(self, text: str) -> str:
        text, self._half = self._half + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        if not text.isascii():
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        self._texts.append(text)
        if self._is_open:
            return text
        self._opening += text
        opened = _WRAPPING.match(self._opening)
        if opened is None and '{"value":'.startswith("".join(self._opening.split())):
            return ""
        self._is_open = True
        return self._opening if opened is None else self._opening[opened.end() :]

    def _add_calls(self, calls: Any) -> None:
        """Calls come in pieces that have the same index; what has none is a call of its own."""
        for call in calls if is_list(calls) else ():
            function = _object_at(call, "function") if is_object(call) else {}
            key = call.get("index") if is_object(call) else None
            own = self._calls.setdefault(
                ("own", len(self._calls)) if key is None else key, {"name": "", "arguments": ""}
            )
            own["name"] += str(function.get("name") or "")
            arguments = function.get("arguments")
            if arguments is not None and not isinstance(arguments, str):
                arguments = json.dumps(arguments, ensure_ascii=False)
            own["arguments"] += arguments or ""


def reported(error: Any, request_id: str | None) -> ProviderError:
    """The error that a server reports with a status that is none."""
    message = error.get("message", error) if is_object(error) else error
    return ProviderError(f"the server reports: {shown(str(message), SHOWN)}", request_id=request_id)


def _first_choice(body: dict[str, Any]) -> dict[str, Any]:
    choices = body.get("choices")
    return choices[0] if is_list(choices) and choices and is_object(choices[0]) else {}


def _reply(
    body: dict[str, Any],
    choice: dict[str, Any],
    message: dict[str, Any],
    model: str,
    wrapped: bool,
    request_id: str | None,
) -> Reply:
    usage = _object_at(body, "usage")
    refusal = message.get("refusal")
    finish = "refusal" if refusal else without_halves(str(choice.get("finish_reason") or "stop"))
    if finish == "error":
        raise ProviderError("the server broke the reply off", request_id=request_id)
    text = str(refusal) if refusal else _text_of(message.get("content"))
    return Reply(
        text=_unwrapped(text) if wrapped else text,
        tool_calls=_tool_requests(message),
        finish=finish,
        model=without_halves(str(body.get("model") or model)),
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
    )


def _object_at(body: dict[str, Any], key: str) -> dict[str, Any]:
    value = body.get(key)
    return value if is_object(value) else {}


def is_object_root(schema: dict[str, Any]) -> bool:
    return schema.get("type") == "object" and "anyOf" not in schema


def _unwrapped(text: str) -> str:
    """What stands in `{"value": ...}`; anything else as it is."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return text
    if is_object(body) and set(body) == {"value"}:
        return json.dumps(body["value"], ensure_ascii=False)
    return text


def _text_of(content: Any) -> str:
    """The text of a message, which some servers send in parts, and others as JSON data."""
    if isinstance(content, str):
        return content
    if is_object(content) or isinstance(content, int | float):
        return json.dumps(content, ensure_ascii=False)
    if is_list(content):
        parts = [part.get("text", "") for part in content if is_object(part)]
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def _tool_requests(message: dict[str, Any]) -> tuple[ToolRequest, ...]:
    calls = message.get("tool_calls")
    if not is_list(calls):
        return ()
    requests: list[ToolRequest] = []
    for call in calls:
        function = call.get("function") if is_object(call) else None
        if not is_object(function):
            continue
        arguments = function.get("arguments")
        if not isinstance(arguments, str):  # some servers send them parsed
            arguments = json.dumps(arguments if arguments is not None else {}, ensure_ascii=False)
        requests.append(ToolRequest(without_halves(str(function.get("name", ""))), arguments))
    return tuple(requests)


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def error_of(response: httpx2.Response, address: str) -> ProviderError:
    """The error that a response with the status of one is."""
    status = response.status_code
    request_id = response.headers.get("x-request-id")
    said = f"{shown(address)} answered {status}: {words_of(response, SHOWN)}"
    wait = asked_wait(response)
    if wait is not None:
        said += f"; it asks to wait {wait:g} s"
    if status in (401, 403):
        return AuthenticationFailed(
            said,
            status=status,
            request_id=request_id,
            hint="check the key, and `api_key_env`, which names its variable",
        )
    if status == 429:
        hint = "ask again later, or for less at once"
        if is_used_up(response):
            hint = "the account of the key has nothing left: add to it, or use another key"
        limited = RateLimited(said, status=status, request_id=request_id, hint=hint)
        limited.retry_after = wait
        return limited
    hint = "check `model` and `base_url`" if status == 404 else None
    return ProviderError(said, status=status, request_id=request_id, hint=hint)


def words_of(response: httpx2.Response, most: int | None = None) -> str:
    """What the server says of its error, fit to be shown."""
    text = response.content[:_LOOKED_THROUGH].decode(errors="replace").strip()
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return shown(text, most) or "no explanation"
    error = body.get("error", body) if is_object(body) else body
    message = error.get("message") if is_object(error) else None
    return shown(str(message or error), most) if error else "no explanation"


def is_used_up(response: httpx2.Response) -> bool:
    """Whether the account has no money left, which no wait will change."""
    return response.status_code == 429 and _USED_UP.search(response.text) is not None


def asked_wait(response: httpx2.Response) -> float | None:
    """The seconds that the server asks to wait, of which it has three ways to tell."""
    for name, parts in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            return max(0.0, float(response.headers[name]) / parts)
        except (KeyError, ValueError):
            continue
    date = email.utils.parsedate_tz(response.headers.get("retry-after"))
    if date is None:
        return None
    try:
        return max(0.0, round(email.utils.mktime_tz(date) - time.time(), 1))
    except (OverflowError, ValueError):
        return None


def _unexpected(content: bytes, request_id: str | None) -> ProviderError:
    return ProviderError(
        f"the server's answer is no chat completion: {_excerpt(content)}", request_id=request_id
    )


def _excerpt(content: bytes) -> str:
    return shown(content[:_LOOKED_THROUGH].decode(errors="replace"), SHOWN) or "nothing"


_QUOTE = r"[\"'`]?"
_UNKNOWN = (
    r"(unknown|unrecognized|unsupported|unexpected) (request )?"
    rf"(field|argument|parameter|property|key)s?( supplied)?:? {_QUOTE}"
)
_NOT_PERMITTED = r"'[\])], 'msg': 'extra inputs are not permitted"
_UNSUPPORTED = r"(is|are) not (supported|enabled|available)"
_SUPPORTS_NO = r"(does not|doesn't) support"
# What follows is a part of it, and not the whole.
_ALL = r"\b(?![\[.])"

NO_TOOLS = re.compile(
    rf"{_SUPPORTS_NO} (tools?|functions?)\b( (use|usage|calls?|calling))?(?! ?[\"'`\[.:])"
    rf"|\b(tools?|tool use|(tool|function)[ -]call(s|ing)){_QUOTE} {_UNSUPPORTED}"
    r"|no endpoints found that support tool use"
    r"|tool choice requires --enable-auto-tool-choice"
    r"|tools param requires --jinja"
    rf"|{_UNKNOWN}tools{_ALL}"
    rf"|'tools{_NOT_PERMITTED}"
)
NO_SCHEMA = re.compile(
    rf"{_UNKNOWN}response_format{_ALL}"
    rf"|response_format{_QUOTE}( of type {_QUOTE}json_schema{_QUOTE}| type)?"
    r" is (not supported|unavailable)"
    rf"|{_SUPPORTS_NO} (response[ _]format|json[ _]schemas?|structured outputs?)"
    rf"|(structured outputs?|json_schema){_QUOTE} {_UNSUPPORTED}"
    r"|response_format[\"'`.]*\s*(value|type)?[\"'`]?:? ?(type )?must be"
    r"|json_schema is enabled only for api versions"
    rf"|'response_format{_NOT_PERMITTED}"
)
NO_USAGE = re.compile(rf"stream_options|{_UNKNOWN}include_usage")
NO_STREAM = re.compile(
    rf"(verified to|{_SUPPORTS_NO}|cannot|can't|unable to) stream|{_UNKNOWN}stream\b(?!_)"
    rf"|\bstream(ing)?{_QUOTE} (responses? |mode )?{_UNSUPPORTED}"
)
NOT_THIS_SCHEMA = re.compile(
    r"invalid (json )?schema\b|json schema (conversion failed|contains|is too complex)"
    r"|parse grammar|grammar (error|is too large)|schema is too complex|too many states"
)


class Lacks:
    """What a server was found not to take; tried again after a while, as servers change."""

    SECONDS = 600.0
    MOST = 256

    def __init__(self) -> None:
        self._until: dict[tuple[str, ...], float] = {}

    def add(self, *what: str) -> None:
        """Notes a part of requests, named by words."""
        # A new dict each time: other threads look into the one before.
        latest = list(self._until.items())[1 - self.MOST :]
        self._until = {**dict(latest), what: self.now() + self.SECONDS}

    def now(self) -> float:
        """The time, in seconds."""
        return time.monotonic()

    def __bool__(self) -> bool:
        return bool(self._until)

    def __contains__(self, what: tuple[str, ...]) -> bool:
        return self._until.get(what, 0.0) > self.now()
