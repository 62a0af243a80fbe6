"""The page of `saftc play`, in a browser: what somebody sees who writes and runs a script there."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.browser.conftest import new_context, opening, sync_api, violations
from tests.compiler.support import ROOT
from tests.play.serving import Page, serving

pytestmark = [pytest.mark.heavy, pytest.mark.one_python]

Opened = Callable[..., Any]
EXAMPLES_OF_PAGE = ROOT / "saftc" / "play" / "examples"
expect = sync_api.expect


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with serving(tmp_path_factory.mktemp("served") / "mine.saft") as page:
        yield page


@pytest.fixture
def tmp_path(server: Page) -> Path:
    """The folder of the server, which keeps nothing but what is in it: here it is empty."""
    for one in server.folder.iterdir():
        shutil.rmtree(one) if one.is_dir() else one.unlink()
    return server.folder


@pytest.fixture
def served(server: Page, tmp_path: Path) -> Page:
    return server


@pytest.fixture
def page(served: Page, opened: Opened) -> Any:
    shown = opened(served.address)
    expect(shown.locator("#python .cm-content")).to_contain_text("prompt(")
    return shown


@pytest.fixture(scope="module")
def typed(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A page that is only typed on: one for all who do so."""
    file = tmp_path_factory.mktemp("typed") / "mine.saft"
    with serving(file) as served, opening(browser) as open_:
        shown = open_(served.address)
        expect(shown.locator("#python .cm-content")).to_contain_text("prompt(")
        yield shown


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


def test_words_and_names_have_their_colours(page: Any) -> None:
    asked = 'print(area(4), "😀", $ a {area(1)} b $)'
    write(page, f"// é😀 note\nf area(n: int):\n    ret n * 2\n\n{asked}")
    script = page.locator("#script .cm-content")
    for kind, texts in {
        "comment": ["// é😀 note"],
        "keyword": ["f", "ret", "$", "{", "}", "$"],
        "number": ["2", "4", "1"],
        "string": ['"😀"', " a ", " b "],
        "type": ["int"],
        "function": ["area", "print", "area", "area"],
    }.items():
        expect(script.locator(f".saft-{kind}")).to_have_text(texts)
    # What cannot be read has the colours of its words.
    write(page, "ret if 12")
    expect(script.locator(".saft-keyword")).to_have_text(["ret", "if"])
    expect(script.locator(".saft-number")).to_have_text(["12"])


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
    assert page.url == f"http://{served.host}/"


def test_a_language_server_may_be_slow(served: Page, browser: Any) -> None:
    context = new_context(browser)
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
    message = page.locator("#script .message.error", has_text="unknown name pepole")
    expect(message).to_contain_text("did you mean people?")
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
    expect(prompt).to_contain_text("Prompt 1: answered:")
    expect(output.locator(".prompt .place")).to_have_text("line 5")
    prompt.locator("summary").click()
    expect(prompt.locator("pre").first).to_be_visible()
    expect(prompt.locator("pre").first).to_contain_text("Extract the person")


def test_of_much_output_the_end_is_shown(page: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.saft").write_text(
        'for i in range(20000):\n    print("line of output number", i)\n'
    )
    page.reload()
    expect(page.locator("#python .cm-content")).to_contain_text("range(20000)")
    page.locator("#run").click()
    expect(page.locator("#status")).to_contain_text("ended after")
    shown = page.locator("#output").evaluate("panel => panel.textContent")
    note, _, rest = shown.partition(" lines before these are not shown)")
    lines = rest.splitlines()
    assert lines == [f"line of output number {i}" for i in range(20000 - len(lines), 20000)]
    assert 4_000 < len(lines) <= 5_000
    assert int(note.strip("(").replace(",", "")) == 20000 - len(lines)
    # The last line is seen.
    at_end = "panel => panel.scrollHeight - panel.scrollTop - panel.clientHeight < 40"
    assert page.locator("#output").evaluate(at_end)


def test_of_long_lines_the_end_is_shown(page: Any, tmp_path: Path) -> None:
    text = 'line = join(["word" for n in range(20000)], "")\nfor n in range(30):\n'
    text += '    print(line + str(n))\nprint("the end")\n'
    (tmp_path / "mine.saft").write_text(text)
    page.reload()
    expect(page.locator("#python .cm-content")).to_contain_text("range(20000)")
    page.locator("#run").click()
    expect(page.locator("#status")).to_contain_text("ended after")
    shown = page.locator("#output").evaluate("panel => panel.textContent")
    assert shown.endswith("word29\nthe end\n") and len(shown) < 1_100_000


def test_output_and_prompts_stay_in_order(page: Any, tmp_path: Path) -> None:
    write(page, 'print("before")\nassert 1 == 2')
    page.locator("#run").click()
    expect(page.locator("#status")).to_contain_text("failed (exit code 1)")
    assert page.locator("#output pre").evaluate_all("all => all.map((one) => one.className)") == [
        "stdout",
        "stderr",
    ]


# What somebody has written


def kept(page: Any) -> None:
    """Loads the page again, as somebody does who has forgotten to save."""
    page.reload()
    expect(page.locator("#script .cm-content")).to_be_visible()


def script(page: Any) -> str:
    lines = page.locator("#script .cm-line").all_inner_texts()
    return "\n".join("" if line == "\n" else line for line in lines)


def test_what_is_not_saved_is_there_again(page: Any, tmp_path: Path) -> None:
    write(page, "hello = 1")
    kept(page)
    expect(page.locator("#script .cm-content")).to_have_text("hello = 1")
    expect(page.locator("#name")).to_have_text("mine.saft (not saved)")
    page.locator("#script .cm-content").press("Control+s")
    expect(page.locator("#status")).to_have_text("saved as mine.saft")
    assert (tmp_path / "mine.saft").read_text() == "hello = 1"
    (tmp_path / "mine.saft").write_text("other = 2\n")
    kept(page)
    expect(page.locator("#script .cm-content")).to_have_text("other = 2")


def test_a_draft_is_not_written_over_what_has_changed(page: Any, tmp_path: Path) -> None:
    page.locator("#save").click()
    expect(page.locator("#status")).to_have_text("saved as mine.saft")
    write(page, "draft = 1")
    (tmp_path / "mine.saft").write_text("other = 2\n")
    kept(page)
    expect(page.locator("#script .cm-content")).to_have_text("draft = 1")
    page.locator("#save").click()
    expect(page.locator("#status")).to_contain_text("mine.saft has changed on disk")
    assert (tmp_path / "mine.saft").read_text() == "other = 2\n"
    # The draft can be undone to what is there.
    page.locator("#script .cm-content").press("Control+z")
    expect(page.locator("#script .cm-content")).to_have_text("other = 2")


def test_who_leaves_is_asked(page: Any) -> None:
    asked: list[str] = []

    def answer(dialog: Any) -> None:
        asked.append(dialog.type)
        dialog.accept()

    page.on("dialog", answer)
    kept(page)
    assert asked == []
    write(page, "hello = 1")
    kept(page)
    assert asked == ["beforeunload"]
    page.locator("#save").click()
    expect(page.locator("#status")).to_have_text("saved as mine.saft")
    kept(page)
    assert asked == ["beforeunload"]


def test_undone_to_what_is_saved_it_is_saved(page: Any) -> None:
    page.locator("#save").click()
    expect(page.locator("#name")).to_have_text("mine.saft")
    page.locator("#script .cm-content").press("Control+End")
    page.keyboard.type("x")
    expect(page.locator("#name")).to_have_text("mine.saft (not saved)")
    page.keyboard.press("Backspace")
    expect(page.locator("#name")).to_have_text("mine.saft")


def test_an_example_is_a_script_of_its_own(page: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.saft").write_text("mine = 1\n")
    kept(page)
    write(page, "mine = 2")
    page.locator("#examples").select_option("conditions")
    expect(page.locator("#script .cm-content")).to_contain_text("Prompts as conditions")
    expect(page.locator("#name")).to_have_text("untitled-conditions.saft (not saved)")
    expect(page.locator("#python .cm-content")).to_contain_text("is_urgent")
    # Without a name it is not saved.
    page.locator("#script .cm-content").press("Control+s")
    expect(page.locator("#status")).to_contain_text("not saved")
    assert [one.name for one in tmp_path.iterdir()] == ["mine.saft"]
    assert (tmp_path / "mine.saft").read_text() == "mine = 1\n"
    page.locator("#examples").select_option("mine.saft")
    expect(page.locator("#script .cm-content")).to_have_text("mine = 2")
    expect(page.locator("#python .cm-content")).to_contain_text("mine = 2")
    # As it was, it can be undone.
    page.locator("#script .cm-content").press("Control+z")
    expect(page.locator("#script .cm-content")).to_contain_text("mine = ")


def test_an_example_is_saved_under_another_name(page: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.saft").write_text("mine = 1\n")
    kept(page)
    names = ["mine.saft", "../away.saft", "chosen"]
    page.on("dialog", lambda dialog: dialog.accept(names.pop(0)))
    page.locator("#examples").select_option("conditions")
    expect(page.locator("#script .cm-content")).to_contain_text("Prompts as conditions")
    page.locator("#save").click()
    expect(page.locator("#status")).to_contain_text("there is a file mine.saft already")
    page.locator("#save").click()
    expect(page.locator("#status")).to_contain_text("is not a name for a script")
    page.locator("#save").click()
    expect(page.locator("#status")).to_have_text("saved as chosen.saft")
    expect(page.locator("#name")).to_have_text("chosen.saft")
    assert (tmp_path / "mine.saft").read_text() == "mine = 1\n"
    assert not (tmp_path.parent / "away.saft").exists()
    write(page, "chosen = 3")
    page.locator("#save").click()
    expect(page.locator("#name")).to_have_text("chosen.saft")
    assert (tmp_path / "chosen.saft").read_text() == "chosen = 3"
    # It is still open when the page is loaded again, and the example is as it was.
    kept(page)
    expect(page.locator("#script .cm-content")).to_have_text("chosen = 3")
    page.locator("#examples").select_option("conditions")
    expect(page.locator("#script .cm-content")).to_contain_text("Prompts as conditions")


def test_what_is_changed_in_an_example_is_there_again(page: Any) -> None:
    page.locator("#examples").select_option("tools")
    expect(page.locator("#script .cm-content")).to_contain_text("Functions as tools")
    write(page, "changed = 1")
    page.locator("#examples").select_option("mine.saft")
    kept(page)
    page.locator("#examples").select_option("tools")
    expect(page.locator("#script .cm-content")).to_have_text("changed = 1")


@pytest.mark.parametrize(
    "text",
    [
        'x = f"{a}"',
        'x = f"a {b}"',
        'x = f"{a} b"',
        'x = f"{a}{b}"',
        'x = f"{f("a")}"',
        'x = "hello"',
        'x = ""',
        "x = [{a: (1)}, []]",
        'print(f"{a}", "b")',
        "x = $ is {a}? $",
        'x = $ is {f"{a}"}? $',
        'x = parse("{\\"a\\": 1}")',
        'ret f"{a}" if b else f"{c}"',
        "pri\n",
    ],
)
def test_what_is_typed_is_what_is_there(typed: Any, text: str) -> None:
    write(typed, text)
    assert script(typed) == text


# Their constructs are those of the others, too.
TYPED = ("classify", "conditions", "hello", "map_list", "refund_plan", "tools", "typed_values")
# A line of them is indented so often at most.
DEEPEST = 4


@pytest.mark.parametrize("example", TYPED)
def test_examples_can_be_typed(typed: Any, example: str) -> None:
    text, page = (EXAMPLES_OF_PAGE / f"{example}.saft").read_text(), typed
    page.locator("#script .cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    for number, line in enumerate(text.splitlines()):
        if number:
            page.keyboard.press("Enter")
            # The editor indents a line as the one before it, and this one may be another's. Not by
            # Home, which goes by the last drawing of a line: that may be of an older text.
            for _ in range(DEEPEST):
                page.keyboard.press("Control+[")
        # Words and what is between them at once, so that the server is asked less often; brackets,
        # quotes, and all else that the editor may answer with more, as the keys give it.
        for part in re.findall(r"[\w ,.]+|[^\w ,.]", line):
            page.keyboard.type(part) if len(part) == 1 else page.keyboard.insert_text(part)
    assert script(page).splitlines() == text.splitlines()


def test_what_is_written_while_it_saves_is_not_saved(page: Any, tmp_path: Path) -> None:
    # Both before the server can answer.
    page.evaluate(
        """() => {
            document.querySelector("#save").click();
            document.querySelector("#script .cm-content").focus();
            document.execCommand("insertText", false, "later");
        }"""
    )
    expect(page.locator("#status")).to_have_text("saved as mine.saft")
    expect(page.locator("#name")).to_have_text("mine.saft (not saved)")
    assert "later" not in (tmp_path / "mine.saft").read_text()


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


def test_a_lost_connection_is_made_again(served: Page, browser: Any) -> None:
    context = new_context(browser)
    page = context.new_page()
    sockets: list[Any] = []

    def connect(socket: Any) -> None:
        socket.connect_to_server()
        sockets.append(socket)

    page.route_web_socket("**/language?*", connect)
    page.route_web_socket("**/run?*", connect)
    page.goto(served.address)
    expect(page.locator("#python .cm-content")).to_contain_text("prompt(")
    page.locator("#save").click()
    expect(page.locator("#status")).to_have_text("saved as mine.saft")
    for socket in list(sockets):
        socket.close(code=4000)
    write(page, "number = 40 + 2")
    expect(page.locator("#python .cm-content")).to_contain_text("number = 40 + 2")
    page.locator("#save").click()
    expect(page.locator("#status")).to_have_text("saved as mine.saft")
    assert "ended" not in page.locator("#status").inner_text()
    write(page, 'print("on")\nn = 0\nwhile true:\n    n = n + 1')
    page.locator("#run").click()
    expect(page.locator("#output")).to_contain_text("on")
    sockets[-1].close(code=4000)
    expect(page.locator("#status")).to_contain_text("the run has ended with it")
    expect(page.locator("#run")).to_be_enabled()
    context.close()


# Places and failures


def test_a_failure_stands_below_its_line_and_leads_there(page: Any) -> None:
    write(page, "number = 1\nassert number == 2")
    page.locator("#run").click()
    expect(page.locator("#status")).to_contain_text("failed (exit code 1)")
    message = page.locator("#script .message.error")
    expect(message).to_have_text("assertion failed")
    line = page.locator("#script .cm-line", has_text="assert").bounding_box()
    assert line["y"] < message.bounding_box()["y"]
    output = page.locator("#output")
    assert "<stdin>" not in output.inner_text()
    page.locator("#script .cm-content").press("Control+Home")
    output.locator(".stderr .place").first.click()
    expect(page.locator("#script .cm-activeLine")).to_have_text("assert number == 2")
    # The next run takes it away.
    write(page, "number = 1")
    page.locator("#run").click()
    expect(page.locator("#status")).to_contain_text("ended after")
    expect(message).to_have_count(0)


def test_a_prompt_leads_to_its_line(page: Any) -> None:
    page.locator("#run").click()
    expect(page.locator("#status")).to_contain_text("ended after")
    page.locator("#output .place").click()
    expect(page.locator("#script .cm-activeLine")).to_contain_text("Extract the person")
    frame = page.frame_locator("#timeline iframe")
    page.locator("#tab-timeline").click()
    expect(frame.locator("#title")).to_have_text("Timeline of mine")
    expect(frame.locator("#places")).to_contain_text("person: {name")


def test_requests_have_the_name_of_the_script(page: Any, tmp_path: Path) -> None:
    page.locator("#tab-request").click()
    expect(page.locator("#request .cm-line").first).to_have_text("mine.saft:5:36: prompt")
    page.locator("#examples").select_option("tools")
    expect(page.locator("#request .cm-line").first).to_contain_text("untitled-tools.saft:")
    assert str(tmp_path) not in page.locator("#request").inner_text()


def test_the_timeline_is_that_of_the_last_run(page: Any) -> None:
    page.locator("#run").click()
    expect(page.locator("#status")).to_contain_text("ended after")
    expect(page.locator("#timeline iframe")).to_have_count(1)
    write(page, "print(1)")
    page.locator("#run").click()
    expect(page.locator("#timeline")).to_have_text("This run sent no prompt.")


def test_both_tabs_are_of_the_last_good_text(page: Any) -> None:
    write(page, "print($ name a colour $)")
    expect(page.locator("#python .cm-content")).to_contain_text("name a colour")
    # A mistake with each letter: `print(`, of which the editor makes `print()`, is none.
    write(page, "pepole")
    expect(page.locator("#mistakes")).to_contain_text("1 mistake")
    expect(page.locator("#python .cm-content")).to_contain_text("name a colour")
    page.locator("#tab-request").click()
    expect(page.locator("#request .cm-content")).to_contain_text("name a colour")


def test_the_token_stays_in_the_tab(page: Any, served: Page, opened: Opened) -> None:
    assert page.url == f"http://{served.host}/"
    kept(page)
    expect(page.locator("#python .cm-content")).to_contain_text("prompt(")
    assert served.token not in page.evaluate("() => location.href + document.referrer")


def test_without_the_token_nothing_is_shown(served: Page, opened: Opened) -> None:
    page = opened(f"http://{served.host}/")
    expect(page.locator("#locked")).to_contain_text("open the address")
    for name in ("run", "script", "unpacked"):
        expect(page.locator(f"#{name}")).to_be_hidden()
    assert violations(page) == []


SHARED = "#script=KyjKzCvRMNQEAA&name=sum"


@pytest.mark.parametrize("width", [390, 1440])
def test_a_shared_link_opens_by_a_click(served: Page, opened: Opened, width: int) -> None:
    # Without the token, the script can be read, and a command opens it where it runs.
    page = opened(f"http://{served.host}/{SHARED}", width)
    expect(page.locator("#unpacked pre")).to_have_text("print(1)")
    expect(page.locator("#opening")).to_have_value(f"saftc play --link '{SHARED}'")
    expect(page.locator("#no-token")).to_be_hidden()
    expect(page.locator("#run")).to_be_hidden()
    page.locator("[data-copies=opening]").press("Enter")
    expect(page.locator("#status")).to_contain_text(re.compile("cop(ied|y)"))
    assert violations(page) == []
    torn = opened(f"http://{served.host}/{SHARED.replace('Kyj', 'AAAAKyj')}", width)
    expect(torn.locator("#status")).to_contain_text("cannot be read")
    # In the browser that has the page open, it is a script of the page.
    own = opened(served.address, width)
    expect(own.locator("#python .cm-content")).to_contain_text("prompt(")
    other = own.context.new_page()
    other.goto(f"http://{served.host}/{SHARED}")
    expect(other.locator("#name")).to_have_text("untitled-sum.saft (not saved)")
    expect(other.locator("#script .cm-content")).to_have_text("print(1)")
    expect(other.locator("#locked")).to_be_hidden()


def test_tabs_are_used_by_keyboard(page: Any) -> None:
    page.locator("#tab-python").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tab-request")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("#python")).to_be_visible()
    expect(page.locator("#request")).to_be_hidden()


def test_the_keys_run_and_save_from_anywhere_on_the_page(page: Any, tmp_path: Path) -> None:
    write(page, "print(6 * 7)")
    page.locator("#tab-output").click()
    page.keyboard.press("Control+s")
    expect(page.locator("#status")).to_have_text("saved as mine.saft")
    assert (tmp_path / "mine.saft").read_text() == "print(6 * 7)"
    page.keyboard.press("Control+Enter")
    expect(page.locator("#output")).to_contain_text("42")


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
        context = new_context(browser)
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
