"""The page of a timeline, in a browser: what it draws, and what somebody can do there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from saftc.trace.timeline import Timeline
from tests.browser.conftest import sync_api, violations

pytestmark = [pytest.mark.heavy, pytest.mark.one_python]

Opened = Callable[..., Any]
expect = sync_api.expect
PROMPTS = 10_000


def events(key: int, start: float, seconds: float, **more: Any) -> list[dict[str, Any]]:
    base = {
        "key": key,
        "within": None,
        "place": "a.saft:1:1",
        "began": start,
        "waited": 0.0,
        "max_in_flight": 16,
        **more,
    }
    asked = [{"role": "user", "content": f"question {key} with <b>signs</b>"}]
    request = {**base, "event": "request", "messages": asked, "new_from": 0}
    reply = {**base, "event": "reply", "duration": seconds * 1000, "text": f"answer {key}"}
    return [
        request,
        {**reply, "tool_calls": (), "input_tokens": 5, "output_tokens": 2, "model": "m"},
    ]


@pytest.fixture
def written(tmp_path: Path) -> Callable[[Timeline], str]:
    def write(timeline: Timeline) -> str:
        path = tmp_path / "run.html"
        path.write_bytes(timeline.page())
        return path.as_uri()

    return write


def small() -> Timeline:
    """Two prompts at the same time, one that fails and one behind them, with a tool."""
    made = Timeline("small")
    outer = events(1, 0.0, 1.0)
    tool = {**outer[0], "event": "tool", "began": 1.0, "duration": 1000.0, "tool": "look_up"}
    made_events = [
        *outer,
        {**tool, "args": {"city": "Oslo"}, "result": "3.5", "error": None},
        *events(2, 1.2, 0.5, place="a.saft:9:1", within=1),
        *events(3, 0.0, 2.0, waited=500.0),
        events(4, 2.0, 1.0)[0],
        {**events(4, 2.0, 1.0)[1], "event": "failure", "error": "RateLimited", "message": "no"},
    ]
    for event in made_events:
        made.see(event)
    return made


def large() -> Timeline:
    made = Timeline("large")
    for number in range(PROMPTS):
        at = events(number, number // 16 * 1.0, 0.9, place=f"a.saft:{number % 5}:1")
        for event in at:
            made.see(event)
    return made


def test_it_is_told_what_the_run_took(opened: Opened, written: Callable[[Timeline], str]) -> None:
    page = opened(written(small()))
    assert page.title() == "small, timeline"
    sums = page.locator("#sums").inner_text().split("\n")
    told = dict(zip(sums[0::2], sums[1::2], strict=True))
    assert (told["wall time"], told["requests, added up"]) == ("3 s", "4 s")
    assert told["waiting, added up"] == "500 ms"
    assert told["prompts"] == "4" and told["call of a tool"] == "1"
    assert told["request or call failed"] == "1" and "prompt failed" not in told
    page.locator("#places summary").click()
    row = page.locator("#places tbody tr, #places table > tr").first.inner_text()
    assert row.split("\t")[0] == "a.saft:1:1"


def test_durations_of_a_place_are_drawn(opened: Opened, written: Callable[[Timeline], str]) -> None:
    made = Timeline("durations")
    # Twenty of a second, one of eleven seconds, and one alone at another place.
    for number, seconds in enumerate([1.0] * 20 + [11.0]):
        for event in events(number, 0.0, seconds):
            made.see(event)
    for event in events(99, 0.0, 2.0, place="a.saft:9:1"):
        made.see(event)
    page = opened(written(made))
    page.locator("#places summary").click()
    first, second = page.locator("#places svg").all()
    expect(first).to_have_attribute("aria-label", "Durations from 1 s to 11 s")
    words = ["1 s to 1.63 s: 20 prompts", "10.38 s to 11 s: 1 prompt"]
    assert first.locator("title").all_text_contents() == words
    tall, low = [float(bar.get_attribute("height")) for bar in first.locator("rect").all()]
    assert tall == 22 and low == 2
    assert second.locator("title").all_text_contents() == ["2 s to 2 s: 1 prompt"]


def test_a_click_shows_the_prompt(opened: Opened, written: Callable[[Timeline], str]) -> None:
    page = opened(written(small()))
    x, y = page.evaluate("() => [toX(0.5), places[0].top + LABEL + 8]")
    page.locator("#canvas").click(position={"x": x, "y": y})
    details = page.locator("#details")
    expect(details.locator("h2")).to_have_text("Prompt 1 at a.saft:1:1")
    said = ("question 1 with <b>signs</b>", "answer 1", "Call of look_up, 1 s", '"city": "Oslo"')
    for words in (*said, "3.5"):
        expect(details).to_contain_text(words)


def test_a_failure_is_told(opened: Opened, written: Callable[[Timeline], str]) -> None:
    made = Timeline("failing")
    asked, reply = events(1, 0.0, 1.0)
    over = {**asked, "event": "over", "time": 1.0, "error": "ContractError: no <b>number</b>"}
    for event in (*events(2, 0.0, 0.5), asked, reply, over):
        made.see(event)
    made.how, made.error = "failed", "error: ContractError\n --> a.saft:1:1"
    page = opened(written(made))
    end = page.locator("#end")
    expect(end.locator("p")).to_have_text("The run failed.")
    expect(end.locator("pre")).to_contain_text("--> a.saft:1:1")
    expect(page.locator("#sums")).to_contain_text("prompt failed")
    page.locator("#canvas").press("End")
    expect(page.locator("#details .failed")).to_have_text(
        "It failed: ContractError: no <b>number</b>"
    )
    # Its bar is red, and that of the other one is not.
    colours = page.evaluate(
        """() => prompts.map((prompt) => {
            const scale = devicePixelRatio, place = places[prompt.place];
            const x = toX(prompt.start) + 3, y = place.top + LABEL + prompt.lane * LANE + 13;
            return [...pen.getImageData(x * scale, y * scale, 1, 1).data].slice(0, 3);
        })"""
    )
    assert sorted(red > blue for red, _, blue in colours) == [False, True]


def test_a_run_that_has_ended_well_says_nothing(
    opened: Opened, written: Callable[[Timeline], str]
) -> None:
    page = opened(written(large()))
    expect(page.locator("#end")).to_be_hidden()


def test_by_keyboard_alone(opened: Opened, written: Callable[[Timeline], str]) -> None:
    page = opened(written(small()))
    heading = page.locator("#details h2")
    for _ in range(20):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.id") == "canvas":
            break
    page.keyboard.press("End")
    expect(heading).to_have_text("Prompt 4 at a.saft:1:1")
    expect(page.locator("#details")).to_contain_text("RateLimited: no")
    page.keyboard.press("ArrowLeft")
    expect(heading).to_have_text("Prompt 3 at a.saft:9:1")
    page.locator("#details button").press("Enter")
    expect(heading).to_have_text("Prompt 1 at a.saft:1:1")
    page.locator("#canvas").press("ArrowDown")
    expect(heading).to_have_text("Prompt 2 at a.saft:1:1")
    expect(page.locator("#details")).to_contain_text("waited 500 ms")
    page.keyboard.press("+")
    assert page.evaluate("() => view.to - view.from < last")
    page.keyboard.press("0")
    assert page.evaluate("() => [view.from, view.to, last]") == [0, 3, 3]
    page.keyboard.press("Enter")
    assert page.evaluate("() => document.activeElement.id") == "details"
    page.keyboard.press("Escape")
    assert page.evaluate("() => document.activeElement.id") == "canvas"


def test_dragging_and_the_wheel(opened: Opened, written: Callable[[Timeline], str]) -> None:
    page = opened(written(small()))
    page.locator("#tools summary").click()
    page.locator("#in").click()
    before = page.evaluate("() => view.from")
    box = page.locator("#canvas").bounding_box()
    page.mouse.move(box["x"] + 300, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 60, steps=4)
    page.mouse.up()
    assert page.evaluate("() => view.from") > before
    assert page.locator("#details h2").count() == 0, "who moves chooses nothing"
    page.keyboard.down("Control")
    page.mouse.wheel(0, 400)
    page.keyboard.up("Control")
    page.wait_for_function("() => view.to - view.from === last")


def test_the_critical_path_can_be_followed(
    opened: Opened, written: Callable[[Timeline], str]
) -> None:
    page = opened(written(small()))
    page.locator("#tools summary").click()
    for number in (2, 4, 2):
        page.locator("#next").click()
        expect(page.locator("#details h2")).to_have_text(f"Prompt {number} at a.saft:1:1")


def test_only_what_is_seen_is_drawn(opened: Opened, written: Callable[[Timeline], str]) -> None:
    page = opened(written(large()))
    assert page.evaluate("() => prompts.length") == PROMPTS
    page.evaluate("() => show(100, 110)")
    assert 0 < int(page.locator("#canvas").get_attribute("data-seen")) <= 16 * 12
    page.locator("#canvas").press("End")
    expect(page.locator("#details h2")).to_contain_text(f"Prompt {PROMPTS} ")
    assert page.evaluate("() => view.to === last")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1600])
def test_nothing_stands_over_the_edge(
    opened: Opened, written: Callable[[Timeline], str], width: int, scheme: str
) -> None:
    page = opened(written(small()), width, scheme)
    page.locator("#canvas").press("ArrowRight")
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    # The text is far from the page it stands on, in both.
    text, ground = page.evaluate(
        "() => { const s = getComputedStyle(document.body); return [s.color, s.backgroundColor]; }"
    )
    light = [sum(map(int, colour[4:-1].split(","))) / 3 for colour in (text, ground)]
    assert abs(light[0] - light[1]) > 180 and (light[1] > 128) == (scheme == "light")


@pytest.mark.parametrize(("width", "highest"), [(390, 330), (1440, 260)])
def test_the_bars_come_first(
    opened: Opened, written: Callable[[Timeline], str], width: int, highest: int
) -> None:
    made = small()
    made.how, made.error = "failed", "error: RateLimited: no\n --> a.saft:1:1"
    page = opened(written(made), width)
    expect(page.locator("#end")).to_be_visible()
    assert page.locator("#overview").bounding_box()["y"] < highest
    # What folds away is there by keyboard.
    expect(page.locator("#search")).to_be_hidden()
    page.locator("#tools summary").press("Enter")
    expect(page.locator("#search")).to_be_visible()
    page.locator("#help summary").press("Enter")
    expect(page.locator("#legend")).to_be_visible()
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    assert violations(page) == []


def test_concurrent_calls_of_a_prompt_are_below_each_other(
    opened: Opened, written: Callable[[Timeline], str]
) -> None:
    made = Timeline("calls")
    outer = events(1, 0.0, 1.0)
    tool = {**outer[0], "event": "tool", "tool": "look_up", "args": {}, "result": "", "error": None}
    for start, seconds in ((1.0, 2.0), (1.0, 1.0), (2.5, 1.0)):
        outer.append({**tool, "began": start, "duration": seconds * 1000})
    for event in outer:
        made.see(event)
    page = opened(written(made))
    levels = "() => prompts[0].steps.slice(1).map((step) => [step.level, step.levels])"
    assert page.evaluate(levels) == [[0, 2], [1, 2], [1, 2]]
    # Each is drawn in a part of the bar's height, as long as it took.
    inks = page.evaluate(
        """() => [[2.9, 2], [2.9, 11], [1.9, 11], [2.2, 11]].map(([seconds, down]) => {
            const y = places[0].top + LABEL + down, scale = devicePixelRatio;
            return pen.getImageData(toX(seconds) * scale, y * scale, 1, 1).data[3] > 0;
        })"""
    )
    assert inks == [True, True, True, False]


def test_what_belongs_to_the_chosen_prompt_is_seen(
    opened: Opened, written: Callable[[Timeline], str]
) -> None:
    made = Timeline("far")
    for number in range(40):
        for event in events(number, 0.0, 1.0, place=f"a.saft:{number}:1", item=(1, number % 20)):
            made.see(event)
    page = opened(written(made))
    page.locator("#canvas").press("Home")
    for _ in range(15):
        page.keyboard.press("ArrowRight")
    places_seen = """() => [...view.linked].map((one) => {
        const top = places[one.place].top - chart.scrollTop;
        return top > 0 && top + LABEL + LANE <= chart.clientHeight;
    })"""
    assert page.evaluate(places_seen).count(True) >= 1
    page.evaluate("() => choose(prompts[15])")
    room = page.evaluate("() => places[35].top - places[15].top < chart.clientHeight - 70")
    assert page.evaluate(places_seen) == [True, True] or not room


def test_a_run_without_prompts(opened: Opened, written: Callable[[Timeline], str]) -> None:
    page = opened(written(Timeline("empty")))
    expect(page.locator("#when")).to_contain_text("This run sent no prompt")
    expect(page.locator("main")).to_be_hidden()


def test_it_says_what_bounded_the_run(opened: Opened, written: Callable[[Timeline], str]) -> None:
    page = opened(written(large()))
    expect(page.locator("#why")).to_have_text(
        "For 90% of the time, all requests that max_in_flight allows (16) were in flight: raise "
        "it, if the provider takes more."
    )


def test_a_search_dims_the_others_and_leads_on(
    opened: Opened, written: Callable[[Timeline], str]
) -> None:
    page = opened(written(small()))
    page.locator("#tools summary").click()
    page.locator("#search").fill("QUESTION 2")
    expect(page.locator("#found")).to_have_text("1 of 4 prompts")
    page.locator("#search").press("Enter")
    expect(page.locator("#details h2")).to_have_text("Prompt 3 at a.saft:9:1")
    page.locator("#search").fill("")
    expect(page.locator("#found")).to_have_text("")
    page.get_by_role("button", name="Next that failed").click()
    expect(page.locator("#details")).to_contain_text("RateLimited")


def test_zooming_keeps_what_is_chosen_in_view(
    opened: Opened, written: Callable[[Timeline], str]
) -> None:
    page = opened(written(large()))
    page.locator("#tools summary").click()
    page.locator("#canvas").press("Home")
    for _ in range(8):
        page.get_by_role("button", name="Zoom in").click()
    seen = page.evaluate("() => view.from <= view.chosen.end && view.to >= view.chosen.start")
    assert seen


def of_items() -> Timeline:
    """Two items, each with two prompts, and a prompt of none."""
    made = Timeline("items")
    for number, item in enumerate([(1, 0), (1, 1), (1, 0, 2, 0), (1, 1), ()]):
        for event in events(number, number * 1.0, 0.8, place=f"a.saft:{number}:1", item=item):
            made.see(event)
    return made


def test_prompts_of_one_item_are_linked(opened: Opened, written: Callable[[Timeline], str]) -> None:
    page = opened(written(of_items()))
    page.locator("#canvas").press("Home")
    lit = "() => view.linked && [...view.linked].map((one) => one.index + 1)"
    assert page.evaluate(lit) == [1, 3]
    page.get_by_role("button", name="prompt 3 at a.saft:2:1").click()
    expect(page.locator("#details h2")).to_have_text("Prompt 3 at a.saft:2:1")
    page.locator("#canvas").press("End")
    assert page.evaluate(lit) is None


def test_filters_dim_the_others_and_lead_on(
    opened: Opened, written: Callable[[Timeline], str]
) -> None:
    page = opened(written(small()))
    page.locator("#tools summary").click()
    page.locator("#only").select_option("failed")
    expect(page.locator("#found")).to_have_text("1 of 4 prompts")
    page.get_by_role("button", name="Next of these").click()
    expect(page.locator("#details")).to_contain_text("RateLimited")
    page.locator("#only").select_option("")
    page.locator("#where").select_option("a.saft:9:1")
    expect(page.locator("#found")).to_have_text("1 of 4 prompts")
    page.locator("#search").fill("question 1")
    expect(page.locator("#found")).to_have_text("0 of 4 prompts")


def test_it_grows_with_the_run_and_what_is_looked_at_stays(
    opened: Opened, written: Callable[[Timeline], str]
) -> None:
    made = Timeline("growing")
    made.how = "running"
    for event in (*events(1, 0.0, 1.0), *events(2, 1.0, 1.0)):
        made.see(event)
    page = opened(written(made))
    page.locator("#tools summary").click()
    expect(page.locator("#end")).to_contain_text("The run is still active")
    page.locator("#canvas").press("Home")
    page.locator("#search").fill("question 1")
    expect(page.locator("#found")).to_have_text("1 of 2 prompts")
    for event in events(3, 2.0, 1.0):
        made.see(event)
    made.how = "ok"
    written(made)
    expect(page.locator("#found")).to_have_text("1 of 3 prompts")
    expect(page.locator("#details h2")).to_have_text("Prompt 1 at a.saft:1:1")
    expect(page.locator("#end")).to_be_hidden()
    assert page.evaluate("() => [view.from, view.to]") == [0, 3]


def test_the_strip_shows_how_many_were_in_flight(
    opened: Opened, written: Callable[[Timeline], str]
) -> None:
    page = opened(written(large()))
    strip = page.locator("#overview")
    expect(strip).to_have_attribute(
        "aria-label",
        "Requests in flight over time; in flight: at most 16 (max_in_flight 16)",
    )
    box = strip.bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.25, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, middle, steps=4)
    page.mouse.up()
    seen = page.evaluate("() => [view.from / last, view.to / last]")
    assert seen == pytest.approx([0.25, 0.5], abs=0.01)
    page.mouse.click(box["x"] + box["width"] * 0.8, middle)
    seen = page.evaluate("() => [view.from / last, view.to / last]")
    assert seen == pytest.approx([0.675, 0.925], abs=0.01)


def test_prompts_in_a_table_that_can_be_sorted(
    opened: Opened, written: Callable[[Timeline], str]
) -> None:
    page = opened(written(large()))
    page.locator("#tools summary").click()
    page.locator("#list summary").click()
    rows = page.locator("#list tbody tr")
    expect(rows).to_have_count(200)
    page.locator("#more").click()
    expect(rows).to_have_count(400)
    page.get_by_role("button", name="#", exact=False).first.press("Enter")
    expect(rows.first.locator("td").first).to_have_text(f"{PROMPTS:,}")
    expect(page.locator("#list th").first).to_have_attribute("aria-sort", "descending")
    expect(rows.first).to_contain_text(f"question {PROMPTS - 1} with <b>signs</b>")
    rows.first.locator("button").press("Enter")
    expect(page.locator("#details h2")).to_contain_text(f"Prompt {PROMPTS:,}".replace(",", ""))
    page.locator("#search").fill("question 123 with")
    expect(rows).to_have_count(1)
    expect(page.locator("#more")).to_be_hidden()


def test_functions_are_named_and_items_numbered(
    opened: Opened, written: Callable[[Timeline], str], tmp_path: Path
) -> None:
    script = tmp_path / "a.saft"
    made = Timeline("named")
    at = {"place": f"{script}:2:9", "function": "triage"}
    for event in events(1, 0.0, 1.0, **at, item=(1, 4, 2, 0)):
        made.see(event)
    page = opened(written(made))
    page.locator("#canvas").press("Home")
    expect(page.locator("#details h2")).to_have_text(f"Prompt 1 at triage, {script}:2:9")
    page.locator("#list summary").click()
    row = page.locator("#list tbody tr td").all_inner_texts()
    assert row == ["1", f"triage, {script}:2:9", "5.1", "0 ms", "1 s", "7", "", "", row[-1]]
    assert row[-1] == "question 1 with <b>signs</b>"


def test_two_runs_are_compared(
    opened: Opened, written: Callable[[Timeline], str], tmp_path: Path
) -> None:
    other = tmp_path / "other.html"
    other.write_bytes(of_items().page())
    page = opened(written(small()))
    page.locator("#compare summary").click()
    page.locator("#other").set_input_files(other)
    table = page.locator("#compare table")
    wall = "wall time3 s4.8 s\N{MINUS SIGN}37 %"
    expect(table.locator("tr", has_text="wall time")).to_have_text(wall)
    expect(table).to_contain_text("median of a.saft:1:1")
    (tmp_path / "no.html").write_text("<p>hello")
    page.locator("#other").set_input_files(tmp_path / "no.html")
    expect(page.locator("#compare .wide")).to_have_text("no.html is not the page of a timeline")


def test_a_streamed_reply_shows_when_it_began(
    opened: Opened, written: Callable[[Timeline], str]
) -> None:
    made = Timeline("streamed")
    request, reply = events(1, 0.0, 1.0)
    piece = {**request, "event": "piece", "text": "an"}
    for event in (request, {**piece, "time": 0.25}, {**piece, "time": 0.5}, reply):
        made.see(event)
    page = opened(written(made))
    page.locator("#canvas").press("Home")
    expect(page.locator("#details")).to_contain_text("the reply began after 250 ms")


@pytest.mark.parametrize("kind", ["model", "cost"])
def test_colours_may_say_something_else(
    opened: Opened, written: Callable[[Timeline], str], kind: str
) -> None:
    page = opened(written(of_items()))
    page.locator("#tools summary").click()
    colour = """() => {
        const scale = devicePixelRatio, prompt = prompts[0];
        const y = places[prompt.place].top + LABEL + 13;
        return [...pen.getImageData((toX(prompt.start) + 3) * scale, y * scale, 1, 1).data].join();
    }"""
    before = page.evaluate(colour)
    page.locator("#paint").select_option(kind)
    assert kind == "cost" or page.evaluate(colour) != before
    page.locator("#paint").select_option("")
    assert page.evaluate(colour) == before
