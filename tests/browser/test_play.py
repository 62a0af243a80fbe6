"""The page of `saftc play`, in a browser: what somebody sees who writes and runs a script there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.browser.conftest import sync_api
from tests.play.serving import Page, serving

pytestmark = pytest.mark.one_python

Opened = Callable[..., Any]
expect = sync_api.expect


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Page]:
    with serving(tmp_path / "mine.saft") as page:
        yield page


@pytest.fixture
def page(served: Page, opened: Opened) -> Any:
    shown = opened(served.address)
    expect(shown.locator("#python .cm-content")).to_contain_text("prompt(")
    return shown


def write(page: Any, text: str) -> None:
    """Replaces the script, as somebody types it; brackets are closed by the editor."""
    page.locator("#script .cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.type(text)


def test_typing_shows_the_python(page: Any) -> None:
    write(page, "number = 40 + 2")
    python = page.locator("#python .cm-content")
    expect(python).to_contain_text("number = 40 + 2")
    expect(python).not_to_contain_text("prompt(")
    # The line of the cursor is marked beside it.
    expect(page.locator("#python .marked")).to_have_text("number = 40 + 2")


def test_a_doc_comment_leads_nowhere(page: Any, served: Page, tmp_path: Path) -> None:
    away = '<meta http-equiv="refresh" content="0;url=/away"><img src="/away">'
    doc = f"/// A List<int> by `Set<int>`, *of* [there](https://example.org/). {away}"
    (tmp_path / "mine.saft").write_text(f"{doc}\nf greet():\n    ret 1\nprint(greet())\n")
    page.reload()
    expect(page.locator("#python .cm-content")).to_contain_text("def greet")
    name = page.locator("#script .cm-line", has_text="f greet").bounding_box()
    page.mouse.move(name["x"] + 30, name["y"] + 8)
    page.mouse.move(name["x"] + 34, name["y"] + 8)
    shown = page.locator(".cm-tooltip-hover")
    expect(shown).to_contain_text("A List<int> by Set<int>, of there. <meta><img>")
    expect(shown.locator("meta, img")).to_have_count(0)
    expect(shown.locator("a")).to_have_attribute("target", "_blank")
    assert page.url == served.address


def test_a_language_server_may_be_slow(served: Page, browser: Any) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.clock.install()
    held: list[Callable[[], None]] | None = []

    def slow(socket: Any) -> None:
        def tell(message: str) -> None:
            if held is None:
                socket.send(message)
            else:
                held.append(partial(socket.send, message))

        socket.connect_to_server().on_message(tell)

    page.route_web_socket("**/language?*", slow)
    page.goto(served.address)
    expect(page.locator("#script .cm-content")).to_contain_text("Extract the person")
    while not held:
        page.wait_for_timeout(50)
    page.clock.fast_forward(120_000)
    for send in held:
        send()
    held = None
    expect(page.locator("#python .cm-content")).to_contain_text("prompt(")
    context.close()


def test_requests_follow(page: Any) -> None:
    page.locator("#tab-request").click()
    expect(page.locator("#request .cm-content")).to_contain_text("Extract the person")
    write(page, "print($ name a colour $)")
    expect(page.locator("#request .cm-content")).to_contain_text("name a colour")


def test_a_mistake_shows_its_message_under_the_line(page: Any) -> None:
    write(page, "people = 1\nprint(pepole")
    # With each letter it is another one.
    message = page.locator("#script .message.error", has_text="unknown name `pepole`")
    expect(message).to_contain_text("did you mean `people`?")
    line = page.locator("#script .cm-line", has_text="pepole").bounding_box()
    assert line is not None and line["y"] < message.bounding_box()["y"]
    expect(page.locator("#mistakes")).to_have_text("1 mistake, first in line 2")
    # What is shown beside it is that of before, and says so.
    expect(page.locator("#stale")).to_be_visible()
    write(page, "people = 1")
    expect(page.locator("#mistakes")).to_be_empty()


def test_mistakes_leave_the_news_as_they_are(page: Any) -> None:
    page.locator("#save").click()
    status = page.locator("#status")
    expect(status).to_have_text("saved as mine.saft")
    write(page, "print(pepole")
    expect(page.locator("#mistakes")).to_contain_text("1 mistake")
    write(page, "print(1")
    expect(page.locator("#mistakes")).to_be_empty()
    expect(status).to_have_text("saved as mine.saft")


def test_run_shows_the_output_and_the_prompts(page: Any) -> None:
    page.locator("#run").click()
    expect(page.locator("#status")).to_contain_text("ended after")
    output = page.locator("#output")
    expect(output).to_contain_text("Alice will be 31 next year")
    prompt = output.locator("details")
    expect(prompt).to_contain_text("Prompt 1, line 5: answered:")
    prompt.locator("summary").click()
    expect(prompt.locator("pre").first).to_be_visible()
    expect(prompt.locator("pre").first).to_contain_text("Extract the person")


def test_of_endless_output_the_beginning_is_shown(page: Any, tmp_path: Path) -> None:
    # In few lines: a browser needs long to lay out many.
    text = f'line = join(["{"word" * 100}" for n in range(200)], "\\n")\n'
    (tmp_path / "mine.saft").write_text(f"{text}for n in range(14):\n    print(line)\n")
    page.reload()
    expect(page.locator("#python .cm-content")).to_contain_text("range(200)")
    page.locator("#run").click()
    expect(page.locator("#status")).to_contain_text("ended after")
    said = page.locator("#output").evaluate("panel => panel.textContent")
    assert said.endswith("\n(more output is not shown)\n")
    assert len(said) == 1_000_000 + len("\n(more output is not shown)\n")


def test_an_example_is_chosen_and_saved(page: Any, tmp_path: Path) -> None:
    page.locator("#examples").select_option("conditions")
    expect(page.locator("#script .cm-content")).to_contain_text("Prompts as conditions")
    expect(page.locator("#name")).to_have_text("mine.saft (not saved)")
    page.locator("#script .cm-content").press("Control+s")
    expect(page.locator("#status")).to_have_text("saved as mine.saft")
    expect(page.locator("#name")).to_have_text("mine.saft")
    assert (tmp_path / "mine.saft").read_text().startswith("// Prompts as conditions")


def test_what_is_written_while_it_saves_is_not_saved(page: Any, tmp_path: Path) -> None:
    # Both before the server can answer.
    page.evaluate(
        """() => {
            document.querySelector("#save").click();
            const examples = document.querySelector("#examples");
            examples.value = "conditions";
            examples.dispatchEvent(new Event("change"));
        }"""
    )
    expect(page.locator("#status")).to_have_text("saved as mine.saft")
    expect(page.locator("#name")).to_have_text("mine.saft (not saved)")
    assert "Prompts as conditions" not in (tmp_path / "mine.saft").read_text()


def test_two_tabs_do_not_write_over_each_other(page: Any, served: Page, opened: Opened) -> None:
    other = opened(served.address)
    expect(other.locator("#python .cm-content")).to_contain_text("prompt(")
    page.locator("#save").click()
    expect(page.locator("#status")).to_have_text("saved as mine.saft")
    other.locator("#save").click()
    expect(other.locator("#status")).to_contain_text("mine.saft has changed on disk")
    other.locator("#save").click()
    expect(other.locator("#status")).to_have_text("saved as mine.saft")
    page.reload()
    expect(page.locator("#name")).to_have_text("mine.saft")
    page.locator("#save").click()
    expect(page.locator("#status")).to_have_text("saved as mine.saft")


def test_a_server_that_has_ended_is_told(opened: Opened, tmp_path: Path) -> None:
    with serving(tmp_path / "mine.saft") as served:
        page = opened(served.address)
        expect(page.locator("#python .cm-content")).to_contain_text("prompt(")
        page.locator("#save").click()
        expect(page.locator("#status")).to_have_text("saved as mine.saft")
    expect(page.locator("#status")).to_contain_text("saftc play has ended")


def test_tabs_are_used_by_keyboard(page: Any) -> None:
    page.locator("#tab-python").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tab-request")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#python")).to_be_visible()
    expect(page.locator("#request")).to_be_hidden()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1600])
def test_nothing_is_cut_off(served: Page, opened: Opened, width: int, scheme: str) -> None:
    page = opened(served.address, width, scheme)
    expect(page.locator("#python .cm-content")).to_contain_text("prompt(")
    page.locator("#save").click()
    expect(page.locator("#status")).to_have_text("saved as mine.saft")
    write(page, "print(pepole")
    expect(page.locator("#mistakes")).to_contain_text("1 mistake")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    for name in ("run", "stop", "save", "examples", "status", "mistakes", "tab-timeline"):
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
