"""A server: an address with an API key, its client, and the features it does not support.

Server("http://127.0.0.1:8080/v1", key)
configured_server(settings, None, "OPENAI_API_KEY", "openai")      the server of the settings
"""

from __future__ import annotations

import os
import re
import threading
import weakref
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

import httpx2

from runtime_support._core.redaction import redacted, remember_secrets, shown
from runtime_support._core.settings import Settings
from runtime_support._values.context import after_fork
from runtime_support.errors import ConfigError
from runtime_support.providers._backoff import Backoff
from runtime_support.providers._clients import LAST_PORT, client_to
from runtime_support.providers._wires import SHOWN

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from runtime_support.providers._forms import UnsupportedFeatures

OPENAI_HOST = "api.openai.com"
OPENAI_ADDRESS = f"https://{OPENAI_HOST}/v1"

# Names of URL parameters whose values are secrets.
_SECRET_PARAMETER = re.compile(r"key|token|secret|password|code|sig", re.IGNORECASE)

# Headers that are not sent: no server needs to know the machine, and only OpenAI who pays.
_OF_THE_MACHINE = ("Arch", "Async", "Lang", "OS", "Package-Version", "Runtime", "Runtime-Version")
_OF_OPENAI = ("OpenAI-Organization", "OpenAI-Project")


def package_of(wire: str | None) -> str:
    """Returns the package whose client sends requests to this API."""
    return "anthropic" if wire == "messages" else "openai"


def _imported(package: str) -> ModuleType:
    """Imports the package; raises ConfigError if it is not installed."""
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if error.name != package:
            raise
        raise ConfigError(
            f"the API `messages` needs the package {package}",
            setting="api",
            hint=f"pip install {package}, which is the extra `{package}`",
        ) from None


class Server:
    """One address with one API key: a client for all threads, and the server's known limits.

    A forked process creates a new client, as the connections belong to its parent. The client is
    closed when the server is garbage-collected or the process ends.
    """

    def __init__(
        self,
        address: str,
        key: str,
        *,
        setting: str = "base_url",
        is_embedded: bool = False,
        package: str = "openai",
    ) -> None:
        url = _checked(address, setting)
        self.package = _imported(package)
        self.address = str(url.copy_with(userinfo=b"", query=None)).rstrip("/") + "/"
        self.key = key
        # What the server has rejected so far, if anything.
        self.lacks: UnsupportedFeatures | None = None
        # Some regions have subdomains of OpenAI's host.
        self.host = url.host
        self.is_openai = f".{url.host}".endswith(f".{OPENAI_HOST}")
        self.is_embedded = is_embedded
        self.url = url
        self._closing: weakref.finalize[..., Server] | None = None
        self.forget_connections()
        secret_values = (v for k, v in url.params.multi_items() if _SECRET_PARAMETER.search(k))
        remember_secrets(key, *secret_values)
        remember_secrets(url.password, user=url.username)
        # The address to store in journals; an embedded server's port changes with each process.
        self.name = "embedded" if is_embedded else redacted(self.address)
        _all_servers.add(self)

    def backoff_of(self, fallback: str | None) -> Backoff:
        """Returns the backoff of the server, or of a fallback model.

        Each fallback model has a separate backoff, as a single model may be overloaded.
        """
        return self.backoffs.get(fallback) or self.backoffs.setdefault(fallback, Backoff())

    def forget_connections(self) -> None:
        """In a forked process, forgets the connections and locks of the parent process."""
        if self._closing is not None:
            self._closing.detach()
        self._client: Any = None
        # By event loop, its client and what closes the client; see `_async_clients`.
        self.loop_clients: dict[AbstractEventLoop, tuple[Any, Any]] = {}
        self._lock = threading.Lock()
        self.backoffs: dict[str | None, Backoff] = {}

    def client(self) -> Any:
        """Returns the client for threads; creates it at the first use."""
        with self._lock:
            if self._client is None:
                self._client = self._connected()
            return self._client

    def _connected(self) -> Any:
        connections = client_to(self.url, is_embedded=self.is_embedded)
        self._closing = weakref.finalize(self, connections.close)
        return self.package.Client(http_client=connections, **self.client_options())

    def client_options(self) -> dict[str, Any]:
        """Returns the options of the package's clients."""
        left_out: list[str] = [f"X-Stainless-{name}" for name in _OF_THE_MACHINE]
        if not self.is_openai:
            left_out += _OF_OPENAI
        # The environment may turn on the client's own tracing, which would duplicate our spans.
        untraced = {"open_telemetry": False} if self.package.__name__ == "anthropic" else {}
        return {
            "api_key": self.key,
            "base_url": self.address,
            "default_headers": dict.fromkeys(left_out, self.package.Omit()),
            "default_query": dict(self.url.params.multi_items()),
            "max_retries": 0,
            **untraced,
        }


_all_servers: weakref.WeakSet[Server] = weakref.WeakSet()


def waits() -> list[tuple[str, float, int | None]]:
    """Returns the hosts that must not get requests yet.

    Each host comes with the seconds left and the status of its last error.
    """
    servers = tuple(_all_servers)
    backoffs = [(server.host, one) for server in servers for one in tuple(server.backoffs.values())]
    return [
        (host, pause, backoff.trouble and backoff.trouble.status)
        for host, backoff in backoffs
        if (pause := backoff.pause) > 0
    ]


def _forget_all_connections() -> None:
    for server in tuple(_all_servers):
        server.forget_connections()


after_fork(_forget_all_connections)


def configured_server(
    settings: Settings, own_address: str | None, key_variable: str, package: str
) -> Server:
    """Returns the server of the settings or, by default, the server at the provider's own address.

    Raises ConfigError if the API key is missing or invalid.
    """
    variable = settings.api_key_env or key_variable
    key = os.environ.get(variable, "").strip()
    named = settings.base_url or (None if own_address else os.environ.get("OPENAI_BASE_URL"))
    # Users' own servers often need no API key, but the client requires one.
    if not key and (settings.api_key_env or not named):
        raise ConfigError(
            f"the environment has no {variable}",
            setting="api_key_env",
            hint=(
                f"set {variable}, or choose who answers: SAFT_PROVIDER=mock needs no key, "
                "SAFT_PROVIDER=local is a small model on this machine"
            ),
        )
    if not (key.isascii() and key.isprintable()):
        raise ConfigError(
            f"{variable} is not a valid API key: it has characters that no header may have",
            setting="api_key_env",
        )
    setting = "base_url" if settings.base_url else "OPENAI_BASE_URL"
    address = named or own_address or OPENAI_ADDRESS
    return Server(address, key or "none", setting=setting, package=package)


def _checked(address: str, setting: str) -> httpx2.URL:
    """Returns the address as a URL; raises ConfigError if it is invalid."""
    try:
        url = httpx2.URL(address.strip())
    except (httpx2.InvalidURL, ValueError):
        url = httpx2.URL("")
    # Sockets would truncate a port that is too large: 99999 becomes 34463.
    has_port = url.port is None or 0 < url.port <= LAST_PORT
    if url.scheme not in ("http", "https") or not url.host or "%" in url.host or not has_port:
        # The message leaves out a password, if the address has one.
        named = shown(re.sub(r"//.*@", "//", address).partition("?")[0], SHOWN)
        raise ConfigError(
            f"{setting}: {named} is not a valid server URL",
            setting="base_url",
            hint="it has the form http://127.0.0.1:8080/v1",
        )
    return url
