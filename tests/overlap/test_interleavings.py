"""Three calls with two requests each mean the same however the answers come, also when one fails
or nobody wants the rest; and each rule of the runtime is needed for that, in threads and loops.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from runtime_support import _overlap as calls
from runtime_support._core.tasks import queue as tasks
from runtime_support._overlap import _Lookahead as Ahead  # pyright: ignore[reportPrivateUsage]
from runtime_support.errors import ProviderError
from tests.overlap.interleavings import (
    EFFECTS,
    ITEMS,
    Case,
    Seen,
    all_runs,
    in_order,
    raised_at_once,
    run_in_loop,
    run_in_threads,
)

_FORMS = {"threads": run_in_threads, "loop": run_in_loop}
_PLACES = [(item, effect) for item in range(ITEMS) for effect in range(EFFECTS)]
# Six requests of three calls, two each in their order.
_ALL = 90

pytestmark = pytest.mark.one_python


def _judge(case: Case, seen: Seen) -> None:
    """Whether a run means what it means in order."""
    output, asked = in_order(case)
    # Nothing is asked twice, nothing more than the width at once, nothing goes on below.
    assert max(Counter(seen.asked).values(), default=1) == 1
    assert seen.most <= case.width
    assert seen.left_over == 0
    if case.cancels is not None:
        assert type(seen.error).__name__ == "CancelledError"
        assert seen.output == output[: len(seen.output)]
    elif case.refused is not None and case.failing is None:
        # All before it is done, and nothing of it or behind it was asked.
        assert str(seen.error) == f"refused: {case.refused}"
        assert seen.output == output
        assert Counter(seen.asked) == Counter(asked)
    elif case.failing is not None:
        assert isinstance(seen.error, ProviderError)
        assert str(seen.error).endswith("{}.{}".format(*case.failing))
        assert seen.output == output
        # What comes behind it was asked before it failed, if at all.
        behind = sum(int(one.split(".")[0]) > case.failing[0] for one in seen.asked)
        assert behind == seen.behind
    else:
        assert seen.error is None
        assert seen.output == output
    if case.cancels is not None or case.leaves is not None:
        assert len(seen.asked) == seen.at_end
    else:
        assert Counter(asked) <= Counter(seen.asked)
        assert case.failing is not None or len(seen.asked) == len(asked)


def _judge_all(form: str, case: Case) -> int:
    """How many interleavings there are; all of them are judged."""
    count = 0
    for seen in all_runs(partial(_FORMS[form], case)):
        _judge(case, seen)
        count += 1
    return count


@pytest.mark.parametrize("width", [2, 3])
@pytest.mark.parametrize("form", _FORMS)
def test_all_is_done_in_order(form: str, width: int) -> None:
    count = _judge_all(form, Case(width))
    assert count == _ALL if width == ITEMS else count > 1


@pytest.mark.parametrize("failing", _PLACES)
@pytest.mark.parametrize("form", _FORMS)
def test_a_failure_comes_at_its_turn(form: str, failing: tuple[int, int]) -> None:
    assert _judge_all(form, Case(ITEMS, failing)) > 1


@pytest.mark.parametrize("refused", range(ITEMS))
@pytest.mark.parametrize("form", _FORMS)
def test_an_item_that_is_refused_comes_at_its_turn(form: str, refused: int) -> None:
    assert _judge_all(form, Case(ITEMS, refused=refused)) >= 1


@pytest.mark.parametrize("form", _FORMS)
def test_what_fails_before_an_item_that_is_refused_comes_first(form: str) -> None:
    assert _judge_all(form, Case(ITEMS, failing=(0, 1), refused=2)) > 1


@pytest.mark.parametrize("leaves", range(ITEMS - 1))
@pytest.mark.parametrize("form", _FORMS)
def test_a_loop_that_is_left_asks_no_more(form: str, leaves: int) -> None:
    assert _judge_all(form, Case(ITEMS, leaves=leaves)) > 1


@pytest.mark.parametrize("cancels", range(ITEMS * EFFECTS))
def test_a_loop_that_is_cancelled_has_ended(cancels: int) -> None:
    assert _judge_all("loop", Case(ITEMS, cancels=cancels)) >= 1


def _at_once(action: Callable[[], object]) -> None:
    action()


def _nothing(*_: object) -> None:
    return None


async def _not_waited(*_: object) -> None:
    pass


_FAILING = [Case(ITEMS, place) for place in _PLACES]
# What is switched off: the owner of a function, its name, what stands in its place, and the cases.
_RULES: dict[str, tuple[object, str, Any, list[Case]]] = {
    "prints wait": (calls, "in_turn", _at_once, [Case(ITEMS)]),
    "behind a failure": (tasks.Task, "is_held", tasks.Task.is_cancelled, _FAILING),
    "items that fail": (Ahead, "look_ahead", raised_at_once, [Case(ITEMS, refused=2)]),
    "what is not wanted ends": (tasks.TaskQueue, "give_up", _nothing, [Case(ITEMS, leaves=0)]),
}
_OF_LOOPS: dict[str, tuple[object, str, Any, list[Case]]] = {
    "what is cancelled has ended": (tasks.TaskQueue, "ended", _not_waited, [Case(3, cancels=2)]),
}


@pytest.mark.parametrize(
    ("form", "rule"),
    [
        *((form, rule) for form in _FORMS for rule in _RULES),
        *(("loop", rule) for rule in _OF_LOOPS),
    ],
)
def test_each_rule_is_needed(form: str, rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, instead, cases = {**_RULES, **_OF_LOOPS}[rule]
    monkeypatch.setattr(owner, name, instead)
    for case in cases:
        for seen in all_runs(partial(_FORMS[form], case)):
            try:
                _judge(case, seen)
            except AssertionError:
                return
    pytest.fail(f"nothing notices that this is switched off: {rule}")
