"""The page of `saftc play` while a script runs there and is mended; and what axe finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from saftc.play.server import EXAMPLES
from saftc.trace.timeline import Timeline
from tests.browser.conftest import sync_api, violations
from tests.browser.test_timeline import small
from tests.play.serving import Page, serving

pytestmark = [pytest.mark.heavy, pytest.mark.one_python]

Opened = Callable[..., Any]
expect = sync_api.expect

SCRIPT = """name = input("who? ")
answer = $ greet {name} $
print(answer)
age: int = $ how old is {name}? $
assert age > 1000
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    folder = tmp_path_factory.mktemp("living")
    (folder / "mine.saft").write_text(SCRIPT)
    (folder / "other.saft").write_text("f twice(n: int) -> int:\n    ret n * 2\n")
    with serving(folder / "mine.saft") as page:
        yield page


def test_a_run_lives(served: Page, opened: Opened) -> None:
    page = opened(served.address)
    # It can be written at once, and who answers is told.
    expect(page.locator("#script .cm-content")).to_be_focused()
    expect(page.locator("#answers")).to_contain_text("the recording hello.jsonl")
    expect(page.locator("#python .cm-content")).to_contain_text("prompt(")
    page.locator("#answers").select_option(label="mock · rules, no model")
    page.locator("#run").click()
    expect(page.locator("#output")).to_contain_text("who?")
    # What is typed goes to the script that reads, and not into its text.
    expect(page.locator("#line")).to_be_focused()
    expect(page.locator("#status")).to_have_text("waits for a line")
    page.keyboard.type("Ann")
    page.keyboard.press("Enter")
    expect(page.locator("#reads")).to_be_hidden()
    expect(page.locator("#status")).to_contain_text("failed (exit code 1) after")
    expect(page.locator("#status")).to_contain_text("2 prompts")
    prompt = page.locator("#output details").first
    expect(prompt.locator("summary")).to_contain_text("Prompt 1: answered: Hello, Ann!")
    expect(prompt.locator(".meta")).to_contain_text("tokens")
    # One prompt again.
    prompt.locator("summary").click()
    prompt.locator(".again").click()
    expect(prompt.locator("pre").last).to_contain_text("Hello, Ann!")
    # The failure stands below its line.
    expect(page.locator("#script .message.error")).to_contain_text("assertion failed")
    frame = page.frame_locator("#timeline iframe")
    page.locator("#tab-timeline").click()
    expect(frame.locator("#end")).to_contain_text("The run failed.")
    assert violations(page) == []


def test_a_mistake_is_explained_and_mended(served: Page, opened: Opened) -> None:
    page = opened(served.address)
    page.locator("#examples").select_option("file:other.saft")
    content = page.locator("#script .cm-content")
    expect(content).to_contain_text("f twice")
    page.keyboard.press("Control+a")
    page.keyboard.type("people = 1\nprint(pepole)")
    message = page.locator("#script .message.error", has_text="unknown name")
    expect(message.locator("code").first).to_have_text("pepole")
    message.get_by_role("button", name="Explain").click()
    expect(page.locator("#explained pre")).to_contain_text("SAFT02")
    assert violations(page) == []
    page.locator("#explained button").click()
    message.get_by_role("button", name="Write people").click()
    expect(content).to_contain_text("print(people)")
    expect(page.locator("#mistakes")).to_be_empty()


def test_the_definition_in_another_script_is_opened(served: Page, opened: Opened) -> None:
    page = opened(served.address)
    expect(page.locator("#python .cm-content")).to_contain_text("prompt(")
    page.keyboard.press("Control+a")
    page.keyboard.type("from other import twice\nprint(twice(2")
    expect(page.locator("#python .cm-content")).to_contain_text("from other")
    for _ in range(3):
        page.keyboard.press("ArrowLeft")
    page.keyboard.press("F12")
    expect(page.locator("#script .cm-activeLine")).to_contain_text("f twice")
    expect(page.locator("#name")).to_have_text("other.saft")


def test_the_tour_goes_on_and_back(served: Page, opened: Opened) -> None:
    page = opened(served.address)
    expect(page.locator("#lesson")).to_be_hidden()
    page.locator("#examples").select_option("lesson01_prompt")
    expect(page.locator("#name")).to_contain_text("untitled-lesson01_prompt.saft")
    expect(page.locator("#back")).to_be_disabled()
    page.locator("#on").click()
    expect(page.locator("#lesson h2")).to_have_text("2. The place of a prompt decides its type")
    page.locator("#back").click()
    expect(page.locator("#lesson h2")).to_have_text("1. A prompt is an expression")
    # Its text stands beside the code, and not in it.
    expect(page.locator("#lesson-text")).to_contain_text("The text between two $ is sent")
    expect(page.locator("#script .cm-content")).not_to_contain_text("//")


def test_the_sides_can_be_made_wider(served: Page, opened: Opened) -> None:
    page = opened(served.address)
    expect(page.locator("#script .cm-content")).to_be_visible()
    before = page.locator("#script").bounding_box()["width"]
    page.locator("#splitter").press("ArrowRight")
    assert page.locator("#script").bounding_box()["width"] > before + 50
    page.locator("#keys").click()
    expect(page.locator("#help")).to_contain_text("Ctrl-Enter")


def test_a_link_has_the_script_and_runs_nothing(served: Page, opened: Opened) -> None:
    page = opened(served.address)
    content = page.locator("#script .cm-content")
    page.locator("#examples").select_option("tools")
    expect(content).to_contain_text("Functions as tools")
    shared = content.inner_text()
    page.locator("#share").click()
    expect(page.locator("#shared")).to_be_visible()
    link, command = (page.locator(f"#{name}").input_value() for name in ("link", "command"))
    assert f"http://{served.host}/#script=" in link and served.token not in link
    assert command == f"saftc play --link '#{link.partition('#')[2]}'"
    assert violations(page) == []
    with page.expect_download() as loaded:
        page.locator("#download").click()
    text = Path(loaded.value.path()).read_text(encoding="utf-8")
    assert loaded.value.suggested_filename == "tools.html"
    assert "default-src 'none'" in text and "from runtime_support import" in text
    # Somebody else has written something; the link opens beside it.
    other = opened(served.address)
    written = other.locator("#script .cm-content")
    expect(other.locator("#python .cm-content")).to_contain_text("prompt(")
    written.press("Control+a")
    other.keyboard.type("mine = 1")
    other.evaluate("link => (location.href = link)", link)
    expect(other.locator("#name")).to_have_text("untitled-tools.saft (not saved)")
    assert written.inner_text() == shared
    expect(other.locator("#status")).to_contain_text("read it before you run it")
    expect(other.locator("#output details")).to_have_count(0)
    assert "script=" not in other.url
    other.locator("#examples").select_option("file:mine.saft")
    expect(written).to_have_text("mine = 1")
    # What it brought is still there when the page is loaded again.
    other.reload()
    other.locator("#examples").select_option("link-tools-1")
    expect(written).to_contain_text("Functions as tools")
    other.evaluate("link => (location.href = link)", link.replace("script=", "script=AAAA"))
    expect(other.locator("#status")).to_contain_text("cannot be read")


def test_text_can_be_larger_and_stays_so(served: Page, opened: Opened) -> None:
    page = opened(served.address)
    line = page.locator("#script .cm-line").first
    before = line.bounding_box()["height"]
    page.locator("#larger").click()
    page.locator("#larger").click()
    assert line.bounding_box()["height"] > before
    page.reload()
    expect(line).to_be_visible()
    assert line.bounding_box()["height"] > before


def printed(page: Any) -> str:
    """Return what the script printed, without the prompts, which come when they are answered."""
    return "".join(page.locator("#output pre.stdout:visible").all_inner_texts())


def test_each_script_has_its_own_results(served: Page, opened: Opened) -> None:
    page = opened(served.address)
    shown = page.locator("#output")
    page.locator("#examples").select_option("lesson03_records")
    expect(page.locator("#answers option:checked")).to_have_text("the lesson's own")
    page.locator("#run").click()
    expect(page.locator("#status")).to_contain_text("ended after")
    assert printed(page) == "medium Wrong invoice\nhigh Server on fire\n"
    page.locator("#on").click()
    expect(page.locator("#lesson h2")).to_contain_text("4. ")
    expect(page.locator("#status")).to_have_text("")
    expect(page.locator("#no-output")).to_be_visible()
    expect(shown.locator("details:visible")).to_have_count(0)
    page.locator("#run").click()
    expect(page.locator("#status")).to_contain_text("ended after")
    assert printed(page).endswith("to accounting\n")
    page.locator("#back").click()
    expect(page.locator("#status")).to_contain_text("ended after")
    assert printed(page).endswith("high Server on fire\n")
    page.locator("#tab-timeline").click()
    frame = page.frame_locator("#timeline iframe:visible")
    expect(frame.locator("#title")).to_have_text("Timeline of untitled-lesson03_records")
    # The server has the requests of the last run alone.
    expect(page.locator("#output .again")).to_have_count(1)
    # While one runs and waits, the others are as they are.
    page.locator("#examples").select_option("lesson10_your_data")
    # A script is fetched before it is shown; the keys are for the script that is shown.
    expect(page.locator("#name")).to_contain_text("lesson10_your_data")
    page.keyboard.press("Control+Enter")
    expect(page.locator("#line")).to_be_focused()
    page.locator("#examples").select_option("lesson01_prompt")
    expect(page.locator("#reads")).to_be_hidden()
    expect(page.locator("#status")).to_have_text("untitled-lesson10_your_data.saft is running")
    page.locator("#examples").select_option("lesson10_your_data")
    expect(page.locator("#status")).to_have_text("waits for a line")
    page.locator("#no-more").click()
    expect(page.locator("#output")).to_contain_text("Hello stranger")


REFUND = """/// Pays an order back.
f refund(order: string, amount: float) -> string:
    ret f"paid {amount}"

x = $ Pay order "A-17" back. Use {refund:approve}. $
print(x.toolCalls[0].result, x.toolCalls[0].error)
"""


@pytest.mark.parametrize("width", [390, 1440])
def test_a_call_is_approved_by_keyboard(served: Page, opened: Opened, width: int) -> None:
    (served.folder / "desk.saft").write_text(REFUND)
    page = opened(served.address, width)
    expect(page.locator("#answers")).to_contain_text("the recording")
    page.locator("#examples").select_option("file:desk.saft")
    expect(page.locator("#name")).to_contain_text("desk.saft")
    page.locator("#answers").select_option(label="mock · rules, no model")

    def run_until_asked() -> None:
        page.keyboard.press("Control+Enter")
        expect(page.locator("#waits")).to_be_focused()
        expect(page.locator("#call")).to_contain_text('refund(order: "A-17"')

    run_until_asked()
    assert violations(page) == []
    # What does not fit is asked again.
    page.locator("#arguments").fill("{}")
    page.locator("#change").press("Enter")
    expect(page.locator("#unfit")).to_contain_text("do not fit")
    page.locator("#arguments").fill('{"order": "A-17", "amount": 2}')
    page.locator("#change").press("Enter")
    expect(page.locator("#output")).to_contain_text("paid 2")
    expect(page.locator("#status")).to_contain_text("ended after")
    run_until_asked()
    page.locator("#reason").fill("above the limit")
    page.locator("#waits button", has_text="No").press("Enter")
    expect(page.locator("#output")).to_contain_text("not approved: above the limit")


@pytest.mark.parametrize("width", [390, 1440])
def test_nothing_jumps_while_somebody_types(served: Page, opened: Opened, width: int) -> None:
    page = opened(served.address, width)
    expect(page.locator("#answers")).to_contain_text("the recording")
    expect(page.locator("#python .cm-content")).to_contain_text("prompt(")

    def tops() -> list[float]:
        return [page.locator(one).bounding_box()["y"] for one in ("#script", "#python", "#shown")]

    before = tops()
    page.locator("#script .cm-content").press("Control+a")
    page.keyboard.type("print(pepole")
    expect(page.locator("#mistakes")).to_contain_text("1 mistake")
    expect(page.locator("#stale")).to_be_visible()
    assert tops() == before
    page.locator("#script .cm-content").press("Control+a")
    page.keyboard.type("print(1")
    expect(page.locator("#mistakes")).to_be_empty()
    page.keyboard.press("Control+Enter")
    expect(page.locator("#status")).to_contain_text("ended after")
    page.locator("#tab-python").click()
    assert tops() == before


def test_each_example_has_its_sentence(served: Page, opened: Opened) -> None:
    page = opened(served.address)
    expect(page.locator("#answers")).to_contain_text("the recording")
    groups = page.locator("#examples optgroup").evaluate_all("all => all.map(one => one.label)")
    assert groups == ["Files", "Tour", *EXAMPLES]
    options = page.locator("#of-Tools option")
    sentences = options.evaluate_all("all => all.map((one) => one.title)")
    assert len(sentences) == 7 and all(len(one.split()) > 8 for one in sentences)
    # The menu has their names.
    assert options.all_inner_texts() == [*EXAMPLES["Tools"]]
    said = "Functions as tools: a function inside a prompt may be called by the model"
    assert any(one.startswith(said) for one in sentences)


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(
    served: Page, opened: Opened, tmp_path: Path, scheme: str, width: int
) -> None:
    page = opened(served.address, width, scheme)
    expect(page.locator("#python .cm-content")).to_contain_text("prompt(")
    page.locator("#script .cm-content").press("Control+f")
    expect(page.locator(".cm-search")).to_be_visible()
    assert violations(page) == []
    path = tmp_path / "run.html"
    made: Timeline = small()
    path.write_bytes(made.page())
    timeline = opened(path.as_uri(), width, scheme)
    timeline.locator("#canvas").press("End")
    assert violations(timeline) == []
