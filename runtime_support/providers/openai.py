"""Any server that speaks OpenAI's chat completions, through the openai package.

The package's client sends and retries, and gives its raw response: its typed models cost more than
the rest of a call together. Its exceptions are mapped to ours here, and nowhere else; a key never
gets into their text.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

from runtime_support.config import Settings
from runtime_support.errors import (
    AuthenticationFailed,
    ConfigError,
    ProviderError,
    ProviderTimeout,
    RateLimited,
    ToolsUnsupported,
)
from runtime_support.exchange import Reply, Request, ToolRequest
from runtime_support.redaction import redacted
from runtime_support.values import is_list, is_object

if TYPE_CHECKING:
    import openai

    from runtime_support.providers.openai_client import ChatClient

DEFAULT_MODEL = "gpt-4o-mini"
SHOWN = 300

# Refusals of a part of a request are told from other mistakes by these words.
_SCHEMA_WORDS = re.compile(r"response_format|json_schema|structured output|schema|grammar")
_ONE_SCHEMA_WORDS = re.compile(r"invalid.{0,5}(json_)?schema|schema error|parse grammar")
_TOOL_WORDS = re.compile(r"(tool|function.call)")
_LACKING_WORDS = re.compile(
    r"support|enable|unknown|unrecognized|unexpected|not (allowed|permitted)"
)
_REFUSING = (400, 404, 422, 500, 501)

_encoded = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode

# What servers do not take, by address and model, or a single schema of it: found out once.
_without_schema: set[tuple[str, ...]] = set()
_without_tools: set[tuple[str, ...]] = set()


class OpenAIProvider:
    """One client, shared by all threads."""

    def __init__(self, client: ChatClient, default_model: str = DEFAULT_MODEL) -> None:
        self.client = client
        self.default_model = default_model
        self.address = str(client.base_url)
        is_openai = client.base_url.host == "api.openai.com"
        self.limit_name = "max_completion_tokens" if is_openai else "max_tokens"

    @classmethod
    def configured(
        cls,
        settings: Settings,
        key_variable: str,
        base_url: str | None = None,
        default_model: str = DEFAULT_MODEL,
    ) -> OpenAIProvider:
        """The provider for these settings; ConfigError when the key is missing."""
        variable = settings.api_key_env or key_variable
        key = os.environ.get(variable)
        own_server = settings.base_url or (None if base_url else os.environ.get("OPENAI_BASE_URL"))
        # Servers of one's own often need no key; the client wants some.
        if not key and (settings.api_key_env or not own_server):
            raise ConfigError(f"the environment has no {variable}", setting="api_key_env")
        import openai

        from runtime_support.providers.openai_client import ChatClient, certificates

        client = ChatClient(
            api_key=key or "none",
            base_url=own_server or base_url,
            timeout=settings.timeout,
            max_retries=settings.retries,
            http_client=openai.DefaultHttpxClient(verify=certificates()),
        )
        return cls(client, default_model)

    def complete(self, request: Request) -> Reply:
        """The reply of the server; a ProviderError when there is none."""
        model = request.model or self.default_model
        server = (self.address, model)
        if request.tools and server in _without_tools:
            raise ToolsUnsupported("this server takes no tools")
        enforced = request.schema is not None and (
            request.structured == "on" or _takes_schema(server, request.schema)
        )
        try:
            return self._send(request, model, enforced)
        except _Rejected as rejected:
            if request.tools and rejected.is_of_tools() and not _has_tool_answers(request):
                _without_tools.add(server)
                raise ToolsUnsupported(
                    rejected.error.message, status=rejected.error.status
                ) from None
            if not enforced or request.structured == "on" or not rejected.is_of_schema():
                raise rejected.error from None
            _without_schema.add(
                (*server, json.dumps(request.schema)) if rejected.is_of_one_schema() else server
            )
        try:
            return self._send(request, model, enforced=False)
        except _Rejected as rejected:
            raise rejected.error from None

    def _send(self, request: Request, model: str, enforced: bool) -> Reply:
        import openai

        body = self._body(request, model, enforced)
        try:
            response = self.client.send(_encoded(body).encode())
        except openai.APIStatusError as error:
            raise _from_status(error, self.address) from None
        except openai.APITimeoutError:
            raise ProviderTimeout(
                f"{self.address} did not answer within {self.client.timeout} s",
                hint="raise `timeout`, or ask for less",
            ) from None
        except openai.APIConnectionError as error:
            cause = redacted(str(error.__cause__ or error))
            raise ProviderError(
                f"cannot reach {self.address}: {cause}", hint="check `base_url` and the network"
            ) from None
        except openai.OpenAIError as error:
            raise ProviderError(redacted(str(error))) from None
        except UnicodeError as error:
            raise ProviderError(f"the request cannot be sent: {error}") from None
        request_id = response.headers.get("x-request-id")
        return read_reply(
            response.content, model, wrapped=_is_wrapped(request, enforced), request_id=request_id
        )

    def _body(self, request: Request, model: str, enforced: bool) -> dict[str, Any]:
        options = dict(request.options)
        extra: dict[str, Any] = options.pop("extra", {})
        if "max_tokens" in options:
            options[self.limit_name] = options.pop("max_tokens")
        body: dict[str, Any] = {"model": model, "messages": list(request.messages), **options}
        if request.tools:
            body["tools"] = list(request.tools)
            if request.must_answer:
                body["tool_choice"] = "none"
        if enforced and request.schema is not None:
            body["response_format"] = response_format(request.schema, request.is_strict)
        return {**body, **extra}


def _takes_schema(server: tuple[str, ...], schema: dict[str, Any]) -> bool:
    if not _without_schema:
        return True
    return _without_schema.isdisjoint((server, (*server, json.dumps(schema))))


class _Rejected(Exception):
    """The server refused a request that may do in another form."""

    def __init__(self, error: ProviderError, words: str) -> None:
        super().__init__(str(error))
        self.error = error
        self.words = words.lower()

    def is_of_tools(self) -> bool:
        has_words = _TOOL_WORDS.search(self.words) and _LACKING_WORDS.search(self.words)
        return has_words is not None

    def is_of_schema(self) -> bool:
        return _SCHEMA_WORDS.search(self.words) is not None

    def is_of_one_schema(self) -> bool:
        return _ONE_SCHEMA_WORDS.search(self.words) is not None


def response_format(schema: dict[str, Any], is_strict: bool) -> dict[str, Any]:
    """The schema as a response format; a root that is not an object is wrapped in `value`."""
    document = schema
    if not _is_object_root(schema):
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
        said = redacted(str(body["error"].get("message", body["error"])))
        raise ProviderError(f"the server reports: {said}", request_id=request_id)
    choices = body.get("choices")
    if not is_list(choices) or not choices or not is_object(choices[0]):
        raise _unexpected(content, request_id)
    choice = choices[0]
    message = choice.get("message")
    if not is_object(message):
        raise _unexpected(content, request_id)
    usage = _object_at(body, "usage")
    refusal = message.get("refusal")
    finish = "refusal" if refusal else str(choice.get("finish_reason") or "stop")
    if finish == "error":
        raise ProviderError("the server broke the reply off", request_id=request_id)
    text = str(refusal) if refusal else _text_of(message.get("content"))
    return Reply(
        text=_unwrapped(text) if wrapped else text,
        tool_calls=_tool_requests(message),
        finish=finish,
        model=str(body.get("model") or model),
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
    )


def _object_at(body: dict[str, Any], key: str) -> dict[str, Any]:
    value = body.get(key)
    return value if is_object(value) else {}


def _has_tool_answers(request: Request) -> bool:
    return any(message["role"] == "tool" for message in request.messages)


def _is_object_root(schema: dict[str, Any]) -> bool:
    return schema.get("type") == "object" and "anyOf" not in schema


def _is_wrapped(request: Request, enforced: bool) -> bool:
    return enforced and request.schema is not None and not _is_object_root(request.schema)


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
    """The text of a message, which some servers send in parts."""
    if isinstance(content, str):
        return content
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
        requests.append(ToolRequest(str(function.get("name", "")), arguments))
    return tuple(requests)


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _from_status(error: openai.APIStatusError, address: str) -> Exception:
    status, request_id = error.status_code, error.request_id
    words = redacted(_message_of(error))
    said = f"{address} answered {status}: {words}"
    if status in (401, 403):
        return AuthenticationFailed(
            said,
            status=status,
            request_id=request_id,
            hint="check the key, and `api_key_env`, which names its variable",
        )
    if status == 429:
        limited = RateLimited(
            said, status=status, request_id=request_id, hint="wait, or raise `retries`"
        )
        limited.retry_after = _seconds(error.response.headers.get("retry-after"))
        return limited
    hint = "check `model` and `base_url`" if status == 404 else None
    failed = ProviderError(said, status=status, request_id=request_id, hint=hint)
    return _Rejected(failed, words) if status in _REFUSING else failed


def _message_of(error: openai.APIStatusError) -> str:
    body = error.body
    if is_object(body):
        return _cut(str(body.get("message") or body))
    return _cut(str(body)) if body else "no explanation"


def _seconds(value: str | None) -> float | None:
    try:
        return None if value is None else float(value)
    except ValueError:
        return None


def _unexpected(content: bytes, request_id: str | None) -> ProviderError:
    return ProviderError(
        f"the server's answer is no chat completion: {_excerpt(content)}", request_id=request_id
    )


def _excerpt(content: bytes) -> str:
    return redacted(_cut(content[: 4 * SHOWN].decode(errors="replace"))) or "nothing"


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else text[: SHOWN - 3] + "..."
