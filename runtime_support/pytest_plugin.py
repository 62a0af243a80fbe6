"""A pytest plugin: answers the prompts of a test from a recording.

    def test_triage(saft_replay):
        assert triage("The server is on fire").severity == "high"

The recording is next to the test, in `recordings/test_mail.test_triage.jsonl`. By default the test
replays it: no request is sent, a prompt that is not recorded fails, and connections to other
machines are blocked. `pytest --saft-record` records missing prompts, `pytest --saft-record=all`
records all prompts again. Settings come from the pyproject.toml of the test, wherever pytest is
started.
"""

from __future__ import annotations

import ipaddress
import re
import socket
import warnings
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

_MODES = (
    ("--saft-record", "missing", "record the prompts of tests that have no recording"),
    ("--saft-record=missing", "missing", "the same"),
    ("--saft-record=all", "all", "record all prompts of tests anew"),
    ("--saft-record=none", "none", "replay the prompts of tests (the default)"),
)

# The first test of the session that uses each recording.
_TESTS = pytest.StashKey[dict[Path, str]]()


class NetworkRefused(OSError):
    """A test that replays its prompts tried to connect to another machine."""


class UnusedRecording(UserWarning):
    """A recording has entries that its test did not use."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option `--saft-record`."""
    group = parser.getgroup("saft")
    for option, mode, words in _MODES:
        # One option per value: an optional value would consume a path that follows the option.
        group.addoption(
            option, action="store_const", const=mode, dest="saft_record", default="none", help=words
        )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> None:
    """Hides the frames of this package in tracebacks of errors that the package raises on purpose.

    `--full-trace` shows the frames.
    """
    for entry in call.excinfo.traceback if call.excinfo is not None else ():
        names = entry.frame.f_globals
        if names.get("__name__", "").startswith("runtime_support."):
            names["__tracebackhide__"] = _is_on_purpose


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Fails a test whose recording lacks a request, even if the test caught the error."""
    yield
    if "saft_replay" in getattr(item, "fixturenames", ()):
        from runtime_support._recordings import misses_of

        for miss in misses_of(str(_recording_of(item))):
            pytest.fail(f"a prompt was not replayed: {miss}", pytrace=False)


def _is_on_purpose(raised: pytest.ExceptionInfo[BaseException]) -> bool:
    from runtime_support.errors import ReplayMiss, SaftError

    return isinstance(raised.value, SaftError | ReplayMiss)


@pytest.fixture
def saft_replay(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Replays or records the prompts of this test; the value is the path of the recording."""
    from runtime_support._recordings import advise, close, describe_unused, open_recording

    path = _recording_of(request.node)
    _refuse_shared(path, request.node)
    mode = request.config.getoption("saft_record")
    if mode == "missing" and not path.exists():
        mode = "all"  # nothing is replayed, so prompts may overlap
    if mode == "all":
        path.unlink(missing_ok=True)
    if mode == "none":
        _refuse_network(monkeypatch)
    for variable, is_set in {"SAFT_REPLAY": mode != "all", "SAFT_RECORD": mode != "none"}.items():
        if is_set:
            monkeypatch.setenv(variable, str(path))
        else:
            monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("SAFT_PROJECT", str(request.node.path.parent))
    advise(str(path), "`pytest --saft-record` records what is missing")
    open_recording(str(path))  # a script could catch the error of a damaged file
    yield path
    unused = close(str(path))
    if unused:
        remedy = "`pytest --saft-record=all` records the test anew"
        warnings.warn(describe_unused(unused, path, remedy), UnusedRecording, stacklevel=2)


def _recording_of(node: pytest.Item) -> Path:
    within_file = node.nodeid.partition("::")[2].replace("::", ".")
    name = re.sub(r"[^\w.-]+", "_", within_file).strip("_")
    return node.path.parent / "recordings" / f"{node.path.stem}.{name}.jsonl"


def _refuse_shared(path: Path, node: pytest.Item) -> None:
    """Fails a test whose recording is that of another test of this session."""
    first = node.config.stash.setdefault(_TESTS, {}).setdefault(path, node.nodeid)
    if first != node.nodeid:
        pytest.fail(
            f"{first} has the same recording, {path.name}: name the tests differently, for example "
            "with `ids` of `pytest.mark.parametrize`",
            pytrace=False,
        )


def _refuse_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks connections to other machines."""

    def guard(owner: Any, name: str, host_of: Callable[..., Any]) -> None:
        function = getattr(owner, name)

        def guarded(*arguments: Any, **named: Any) -> Any:
            host = host_of(*arguments)
            if not _is_here(host):
                raise _refused(host)
            return function(*arguments, **named)

        monkeypatch.setattr(owner, name, guarded)

    guard(socket.socket, "connect", _host_of_address)
    guard(socket.socket, "connect_ex", _host_of_address)
    guard(socket, "getaddrinfo", _host_of_name)


def _host_of_name(host: Any, *_: Any) -> Any:
    return host


def _host_of_address(connection: socket.socket, address: Any) -> Any:
    """Returns the host of an internet address, or None for an address of another family."""
    return address[0] if connection.family in (socket.AF_INET, socket.AF_INET6) else None


def _refused(host: Any) -> NetworkRefused:
    name = host.decode() if isinstance(host, bytes) else host
    return NetworkRefused(
        f"saft_replay: {name} is another machine, and a replayed test uses no network; "
        "`pytest --saft-record` allows it"
    )


def _is_here(host: Any) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    if name in (None, "", "localhost", socket.gethostname()):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
