"""What all tests share: no network but loopback, no settings from outside, `--update-cases`."""

import gc
import ipaddress
import os
import re
import socket
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

_MARKS_OF_FILE = re.compile(r"^pytestmark = (?:\[[^\]]*\]|.*)", re.M)
# The processor time, in seconds, from which on a test is to be marked `heavy`.
HEAVY = 1.0

# The same examples each time, which are not kept, and no test looks at a clock.
settings.register_profile(
    "suite",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("suite")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-cases",
        action="store_true",
        help="Rewrite the expectations of tests/cases; read the difference before committing it.",
    )
    parser.addoption(
        "--update-budget",
        action="store_true",
        help="Lower the numbers of tests/budget.toml and tests/structure/house.toml to what is.",
    )
    parser.addoption(
        "--cpu",
        type=int,
        metavar="N",
        help="Show the N tests with the most processor time, and which of them lack a mark.",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--update-cases") and os.environ.get("CI"):
        raise pytest.UsageError("--update-cases is for people: CI only compares")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file is not loaded when no test of it can have the marks that are wanted."""
    wanted = config.getoption("markexpr")
    if not wanted or not collection_path.name.startswith("test_"):
        return None
    text = collection_path.read_text(encoding="utf-8")
    of_all = " ".join(_MARKS_OF_FILE.findall(text))
    is_unwanted = any(
        f"not {mark}" in wanted and f"pytest.mark.{mark}" in of_all
        for mark in ("heavy", "one_python", "slow")
    )
    lacks = wanted.startswith("heavy") and "pytest.mark.heavy" not in text
    return True if is_unwanted or lacks else None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Nothing that is collected is garbage, and the tests stay until the end: looking for cycles
    among them would be in vain.

    Trees of scripts are many small objects that live for long, too: looking less often saves a
    tenth of the time.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.set_threshold(20_000, 10, 10)
        gc.enable()


_cpu_before = pytest.StashKey[float]()
_used: list[tuple[float, str, str]] = []


def _cpu_seconds() -> float:
    """The processor time of this process, and of its children that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    item.stash[_cpu_before] = _cpu_seconds()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    if call.when == "teardown":
        used = _cpu_seconds() - item.stash[_cpu_before]
        item.user_properties.append(("cpu", round(used, 2)))
    return (yield)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.when == "teardown":
        used = float(dict(report.user_properties)["cpu"])  # type: ignore[arg-type]
        is_marked = {"heavy", "slow"} & set(report.keywords)
        lacks = used > HEAVY and not is_marked
        _used.append((used, report.nodeid, "  is not marked heavy" if lacks else ""))


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if count := config.getoption("--cpu"):
        terminalreporter.section("processor time of tests, with their fixtures and children")
        for used, test, lacks in sorted(_used, reverse=True)[:count]:
            terminalreporter.line(f"{used:7.2f}s {test}{lacks}")


@pytest.fixture
def updates_cases(request: pytest.FixtureRequest) -> bool:
    """Whether expectations are to be rewritten rather than compared."""
    return bool(request.config.getoption("--update-cases"))


@pytest.fixture
def updates_budget(request: pytest.FixtureRequest) -> bool:
    """Whether numbers that may only get less are to be lowered rather than compared."""
    return bool(request.config.getoption("--update-budget"))


@pytest.fixture(autouse=True)
def _settings_stay() -> Iterator[None]:
    """A test that leaves settings of the process behind fails, and not one after it."""
    settings = sys.modules.get("runtime_support._core.settings")
    before = {} if settings is None else settings._configured
    yield
    settings = sys.modules.get("runtime_support._core.settings")
    if settings is not None and settings._configured != before:
        left, settings._configured = settings._configured, before
        raise AssertionError(f"the test leaves settings behind: {sorted(left)}")


class NetworkRefused(OSError):
    """A test tried to leave the machine."""


@pytest.fixture(scope="session", autouse=True)
def _no_network() -> Iterator[None]:
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex
    look_up = socket.getaddrinfo

    def guarded_connect(self: socket.socket, address: Any) -> None:
        _refuse_unless_local(self.family, address)
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        _refuse_unless_local(self.family, address)
        return connect_ex(self, address)

    def guarded_look_up(host: Any, *more: Any, **named: Any) -> Any:
        if not _is_loopback(host):
            raise NetworkRefused(f"tests stay on this machine: looking up {host!r} was refused")
        return look_up(host, *more, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded_connect)
        patch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
        patch.setattr(socket, "getaddrinfo", guarded_look_up)
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_file_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        yield


@pytest.fixture(autouse=True)
def _no_settings() -> Iterator[None]:
    """Clears the `SAFT_` variables, and takes back those that a test has set."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("SAFT_")]:
            patch.delenv(name)
        yield
        for name in [name for name in os.environ if name.startswith("SAFT_")]:
            del os.environ[name]


def _refuse_unless_local(family: int, address: Any) -> None:
    if family in (socket.AF_INET, socket.AF_INET6) and not _is_loopback(address[0]):
        raise NetworkRefused(f"tests stay on this machine: connecting to {address} was refused")


def _is_loopback(host: Any) -> bool:
    if isinstance(host, bytes):
        host = host.decode()
    if host in (None, "", "localhost", socket.gethostname()):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback or host == "0.0.0.0"
    except ValueError:
        return False
