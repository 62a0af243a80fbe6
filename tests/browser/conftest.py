"""A real browser without a window: the system's Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from typing import Any, Literal

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="needs playwright (extra dev)")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
# It asks nobody anything, and works for root, as in containers.
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# In milliseconds; only a defect takes so long.
PATIENCE = 120_000
sync_api.expect.set_options(timeout=PATIENCE)

Opened = Callable[..., Any]


# Not longer than a module: Playwright leaves an event loop running, in which nothing overlaps.
@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """The browser; the test is skipped where there is none."""
    if CHROMIUM is None:
        pytest.skip("needs Chromium (apt install chromium)")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield running
        running.close()


def new_context(browser: Any, **options: Any) -> Any:
    """A context of its own, as patient as all others."""
    context = browser.new_context(**options)
    context.set_default_timeout(PATIENCE)
    return context


@pytest.fixture
def opened(browser: Any) -> Iterator[Opened]:
    with opening(browser) as open_:
        yield open_


@contextmanager
def opening(browser: Any) -> Iterator[Opened]:
    """Opens an address in a window of a width, light or dark; no error of its scripts is let go."""
    contexts: list[Any] = []
    errors: list[str] = []

    def open_(address: str, width: int = 1600, scheme: Literal["light", "dark"] = "light") -> Any:
        size: Any = {"width": width, "height": 900}
        context = new_context(browser, viewport=size, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        page.goto(address)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert errors == []


def violations(page: Any) -> list[str]:
    """What axe finds, the whole of its rules."""
    axe = pytest.importorskip(
        "axe_playwright_python", reason="needs axe-playwright-python (extra dev)"
    )
    page.evaluate(files(axe).joinpath("axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("() => axe.run()")["violations"]
    return [f"{one['id']}: {[it['html'][:200] for it in one['nodes']]}" for one in found]
