"""The built site: every page is there and found, every link leads somewhere, by keyboard, too."""

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.browser.conftest import (
    browser,  # noqa: F401, a fixture
    new_context,
    opened,  # noqa: F401, a fixture
    sync_api,
    violations,
)

pytestmark = [pytest.mark.heavy, pytest.mark.one_python]

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "site"
# Of what somebody reads in one go, in words.
LONGEST = 4_000

# What people look for, and the page that has it.
SEARCHED = {
    "ollama": "provider-ollama/",
    "azure": "provider-azure/",
    "docker": "deploy/",
    "deploy": "deploy/",
    "logging": "looking/",
    "few-shot": "recipes/",
    "embedding": "recipes/",
    "system prompt": "recipes/",
    "unit test": "testing/",
    "JSON mode": "providers/",
    "dict comprehension": "language/",
    "fallback": "recipes/",
    "RAG": "recipes/",
    "retry": "runs/",
    "API key": "providers/",
    "enum": "language-types/",
    "anthropic": "provider-anthropic/",
    "bedrock": "provider-bedrock/",
    "approval": "approval/",
    "playground": "play/",
}


def navigation() -> Any:
    return tomllib.loads((SITE / "zensical.toml").read_text())["project"]["nav"]


def named(nav: Any) -> Iterator[str]:
    """The files that an entry of the navigation names."""
    if isinstance(nav, str):
        yield nav
    else:
        for part in nav.values() if isinstance(nav, dict) else nav:
            yield from named(part)


# Where it is published, and where its sources are; with and without a slash at the end.
SITE_URL = "https://docs.saft.test/en"
REPO_URL = "https://github.com/saft/saftc/"


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built without a warning."""
    folder = tmp_path_factory.mktemp("site")
    environment = {**os.environ, "SITE_URL": SITE_URL, "REPO_URL": REPO_URL}
    subprocess.run([sys.executable, SITE / "stage.py", folder], check=True, env=environment)
    done = subprocess.run(
        [Path(sys.executable).with_name("zensical"), "build", "--strict"],
        cwd=folder,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    subprocess.run([sys.executable, SITE / "stage.py", folder, "--texts"], check=True)
    return folder / "html"


@pytest.fixture(scope="module")
def address(html: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(html))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


def test_the_site_builds(html: Path) -> None:
    tutorial = (html / "tutorial" / "index.html").read_text(encoding="utf-8")
    assert '<span class="filename">triage.saft</span>' in tutorial
    assert '<span class="k">ret</span>' in tutorial, "the package's lexer colours scripts"
    listed = re.findall(r"^- \[.+\]\((.+)\): .+", (html / "llms.txt").read_text("utf-8"), re.M)
    assert listed == list(named(navigation()))
    assert all((html / page).is_file() for page in listed)
    tour = (html / "tour" / "index.html").read_text(encoding="utf-8")
    assert "The text between two" in tour, "the lessons can be read"
    for lesson in ("Bartholomew", "high Server on fire", "refunded A17", "Hello Ada, there are 10"):
        assert lesson in tour, "what they print is what their recordings give"


def test_no_link_vanishes(html: Path) -> None:
    examples = (html / "examples" / "index.html").read_text(encoding="utf-8")
    assert 'href="hello/#what-it-prints"' in examples
    editor = (html / "editor" / "index.html").read_text(encoding="utf-8")
    assert 'href="../files/editors/nvim/saft.lua"' in editor
    assert 'href="../files/editors/vscode/"' in editor
    for file in ("editors/nvim/saft.lua", "saftc/syntax/grammar.lark"):
        assert (html / "files" / file).read_bytes() == (ROOT / file).read_bytes()
    assert (html / "files" / "editors" / "vscode" / "package.json").is_file()


def test_where_it_is_where_its_sources_are_and_its_version(html: Path) -> None:
    site, repository = f"{SITE_URL}/", REPO_URL.removesuffix("/")
    assert f"<loc>{site}tutorial/</loc>" in (html / "sitemap.xml").read_text("utf-8")
    for page, source in {
        "tutorial": "docs/tutorial.md",
        "diagnostics/SAFT0203": "saftc/diagnostics/pages/SAFT0203.md",
        "changelog": "CHANGELOG.md",
    }.items():
        text = (html / page / "index.html").read_text(encoding="utf-8")
        assert f'rel="canonical" href="{site}{page}/"' in text
        assert f'href="{repository}/edit/main/{source}"' in text and (ROOT / source).is_file()
        assert "saftc 0." in text, "the version"


def test_every_page_is_in_the_navigation() -> None:
    pages = {path.name for path in (ROOT / "docs").glob("*.md")}
    assert pages - set(named(navigation())) == set()


def test_no_page_is_too_long() -> None:
    # The changelog is a list to look things up in.
    pages = (ROOT / "docs").glob("*.md")
    sizes = {page.name: len(page.read_text("utf-8").split()) for page in pages}
    assert {name: size for name, size in sizes.items() if size > LONGEST} == {}


def test_what_people_look_for_is_found(address: str, opened: Any) -> None:  # noqa: F811
    page = opened(address, 1440)
    # The key works once the index of the search is there.
    page.wait_for_load_state("networkidle")
    page.keyboard.press("/")
    sync_api.expect(page.get_by_role("combobox", name="Search")).to_be_focused()
    found = page.locator("a[href*='?h=']")
    missing: dict[str, list[str]] = {}
    for words, right in SEARCHED.items():
        # The results of these words, and not of those before.
        page.keyboard.press("Control+a")
        page.keyboard.press("Delete")
        sync_api.expect(found).to_have_count(0)
        page.keyboard.insert_text(words)
        sync_api.expect(found.first).to_be_visible()
        hrefs = found.evaluate_all("all => all.map((one) => new URL(one.href).pathname.slice(1))")
        pages = list(dict.fromkeys(hrefs))[:3]
        if right not in pages:
            missing[words] = pages
    assert missing == {}


def test_the_navigation_is_that_of_the_pages(address: str, opened: Any) -> None:  # noqa: F811
    page = opened(address, 1440)
    for section in navigation():
        for title, entries in section.items():
            # A tab leads to the first page of its section, beside which all of them are listed.
            tab = page.locator(".md-tabs__link", has_text=re.compile(rf"^\s*{title}\s*$"))
            # Its address alone says nothing: the first tab leads to the page where one is.
            with page.expect_event("load"):
                tab.click()
            first = next(iter(entries[0].values()))
            expected = "" if first == "index.md" else f"{first[:-3]}/"
            sync_api.expect(page).to_have_url(re.compile(re.escape(address + expected) + "$"))
            shown = page.locator(".md-sidebar--primary a.md-nav__link:visible")
            hrefs = shown.evaluate_all("all => all.map((one) => one.href.split('#')[0])")
            for one in named(entries):
                to = re.sub(r"(index)?\.md$", "/", one).replace("//", "/").removeprefix("/")
                assert address + to in hrefs, one


def test_nothing_is_loaded_from_elsewhere(address: str, browser: Any) -> None:  # noqa: F811
    context = new_context(browser)
    page = context.new_page()
    elsewhere: list[str] = []
    page.on("request", lambda one: one.url.startswith(address) or elsewhere.append(one.url))
    for name in ("", "play/", "language/"):
        page.goto(address + name, wait_until="networkidle")
    assert elsewhere == []
    context.close()


@pytest.mark.parametrize("width", [390, 1440])
def test_each_stop_of_the_tab_key_has_a_name(
    address: str,
    opened: Any,  # noqa: F811
    width: int,
) -> None:
    page = opened(address + "language/", width)
    assert violations(page) == []
    empty = """() => [...document.querySelectorAll("a[href], button")].filter((one) =>
        one.tabIndex >= 0 && one.offsetParent && !(one.textContent.trim() || one.title ||
        one.getAttribute("aria-label"))).map((one) => one.outerHTML)"""
    assert page.evaluate(empty) == []
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
