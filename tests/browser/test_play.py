"""The page of `saftc play`, in a browser: what somebody sees who writes and runs a script there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.play.serving import Page, serving

pytestmark = pytest.mark.one_python

Opened = Callable[..., Any]
# In milliseconds; only a defect takes so long.
PATIENCE = 60_000


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Page]:
    with serving(tmp_path / "mine.saft") as page:
        yield page


@pytest.fixture
def page(served: Page, opened: Opened) -> Any:
    shown = opened(served.address)
    shown.set_default_timeout(PATIENCE)
    shown.locator("#python .cm-content", has_text="prompt(").wait_for()
    return shown


def write(page: Any, text: str) -> None:
    """Replaces the script, as somebody types it; brackets are closed by the editor."""
    page.locator("#script .cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.type(text)


def test_typing_shows_the_python(page: Any) -> None:
    write(page, "number = 40 + 2")
    page.locator("#python .cm-content", has_text="number = 40 + 2").wait_for()
    assert "prompt(" not in page.locator("#python .cm-content").inner_text()
    # The line of the cursor is marked beside it.
    assert page.locator("#python .marked").inner_text() == "number = 40 + 2"


def test_a_doc_comment_leads_nowhere(page: Any, served: Page, tmp_path: Path) -> None:
    away = '<meta http-equiv="refresh" content="0;url=/away"><img src="/away">'
    doc = f"/// A List<int> by `Set<int>`, *of* [there](https://example.org/). {away}"
    (tmp_path / "mine.saft").write_text(f"{doc}\nf greet():\n    ret 1\nprint(greet())\n")
    page.reload()
    page.locator("#python .cm-content", has_text="def greet").wait_for()
    name = page.locator("#script .cm-line", has_text="f greet").bounding_box()
    page.mouse.move(name["x"] + 30, name["y"] + 8)
    page.mouse.move(name["x"] + 34, name["y"] + 8)
    shown = page.locator(".cm-tooltip-hover")
    shown.wait_for()
    assert "A List<int> by Set<int>, of there. <meta><img>" in shown.inner_text()
    assert shown.locator("meta, img").count() == 0
    assert shown.locator("a").get_attribute("target") == "_blank"
    assert page.url == served.address


def test_requests_follow(page: Any) -> None:
    page.locator("#tab-request").click()
    page.locator("#request .cm-content", has_text="Extract the person").wait_for()
    write(page, "print($ name a colour $)")
    page.locator("#request .cm-content", has_text="name a colour").wait_for()


def test_a_mistake_shows_its_message_under_the_line(page: Any) -> None:
    write(page, "people = 1\nprint(pepole")
    message = page.locator("#script .message.error")
    message.wait_for()
    assert "unknown name `pepole`" in message.inner_text()
    assert "did you mean `people`?" in message.inner_text()
    line = page.locator("#script .cm-line", has_text="pepole").bounding_box()
    assert line is not None and line["y"] < message.bounding_box()["y"]
    assert "1 mistake" in page.locator("#status").inner_text()
    # What is shown beside it is that of before, and says so.
    assert page.locator("#stale").is_visible()


def test_run_shows_the_output_and_the_prompts(page: Any) -> None:
    page.locator("#run").click()
    page.locator("#status", has_text="ended after").wait_for()
    output = page.locator("#output")
    assert "Alice will be 31 next year" in output.inner_text()
    prompt = output.locator("details")
    assert "Prompt 1, line 5: answered:" in prompt.inner_text()
    prompt.locator("summary").click()
    assert "Extract the person" in prompt.inner_text()


def test_of_endless_output_the_beginning_is_shown(page: Any, tmp_path: Path) -> None:
    text = 'line = join(["word" for n in range(20000)], "\\n")\n'
    (tmp_path / "mine.saft").write_text(f"{text}for n in range(12):\n    print(line)\n")
    page.reload()
    page.locator("#python .cm-content", has_text="range(20000)").wait_for()
    page.locator("#run").click()
    page.locator("#status", has_text="ended after").wait_for()
    said = page.locator("#output").evaluate("panel => panel.textContent")
    assert said.endswith("\n(more output is not shown)\n")
    assert said.count("\n") == 200_002


def test_an_example_is_chosen_and_saved(page: Any, tmp_path: Path) -> None:
    page.locator("#examples").select_option("conditions")
    page.locator("#script .cm-content", has_text="Prompts as conditions").wait_for()
    assert page.locator("#name").inner_text() == "mine.saft (not saved)"
    page.locator("#script .cm-content").press("Control+s")
    page.locator("#status", has_text="saved").wait_for()
    assert (tmp_path / "mine.saft").read_text().startswith("// Prompts as conditions")
    assert page.locator("#name").inner_text() == "mine.saft"


def test_tabs_are_used_by_keyboard(page: Any) -> None:
    page.locator("#tab-python").focus()
    page.keyboard.press("ArrowRight")
    assert page.locator("#tab-request").get_attribute("aria-selected") == "true"
    page.keyboard.press("ArrowLeft")
    assert page.locator("#python").is_visible() and page.locator("#request").is_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1600])
def test_nothing_is_cut_off(served: Page, opened: Opened, width: int, scheme: str) -> None:
    page = opened(served.address, width, scheme)
    page.locator("#python .cm-content", has_text="prompt(").wait_for()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    for name in ("run", "stop", "save", "examples", "tab-timeline"):
        box = page.locator(f"#{name}").bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= width


def test_another_page_in_the_browser_runs_nothing(
    served: Page, browser: Any, tmp_path: Path
) -> None:
    folder, made = tmp_path / "evil", tmp_path / "made"
    folder.mkdir()
    (folder / "index.html").write_text("<!doctype html><title>evil</title>")
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as evil:
        Thread(target=evil.serve_forever, daemon=True).start()
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{evil.server_port}/index.html")
        # Even with the token, which it cannot know.
        for token in ("", served.token):
            outcome = page.evaluate(_ATTACKS, [served.host, token, f'write_text("{made}", "x")'])
            assert outcome == {"socket": "refused", "read": "refused"}
            assert all("editor.js" not in frame.content() for frame in page.frames)
        context.close()
        evil.shutdown()
    assert not made.exists()


_ATTACKS = """async ([host, token, script]) => {
    const socket = new WebSocket(`ws://${host}/run?token=${token}`);
    const connected = await new Promise((done) => {
        socket.onopen = () => { socket.send(JSON.stringify({ run: script })); done("open"); };
        socket.onerror = () => done("refused");
    });
    const read = await fetch(`http://${host}/state?token=${token}`).then(
        () => "read", () => "refused");
    const form = document.createElement("form");
    const frame = document.createElement("iframe");
    frame.name = form.target = `target${document.forms.length}`;
    form.method = "post";
    form.enctype = "text/plain";
    form.action = `http://${host}/run?token=${token}`;
    const field = document.createElement("input");
    field.name = JSON.stringify({ run: script }).slice(0, -1);
    form.append(field);
    document.body.append(frame, form);
    const sent = new Promise((done) => { frame.onload = done; });
    form.submit();
    await sent;
    const inner = document.createElement("iframe");
    inner.src = `http://${host}/?token=${token}`;
    const loaded = new Promise((done) => { inner.onload = done; });
    document.body.append(inner);
    await loaded;
    return { socket: connected, read };
}"""
