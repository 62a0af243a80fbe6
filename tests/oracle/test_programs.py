"""Programs that a model writes: the compiled module with the runtime against the interpreter.

`SAFT_ORACLE_PROGRAMS` says how many scripts.
"""

import json
import os

import pytest

from saftc.driver import check
from saftc.source import Source
from tests.oracle.compare import Disagreement, Outcome, compare
from tests.oracle.interpreter import run
from tests.oracle.model import PROGRAM, Decided, decide
from tests.oracle.written_programs import script

pytestmark = pytest.mark.one_python

COUNT = int(os.environ.get("SAFT_ORACLE_PROGRAMS", "6"))


@pytest.mark.heavy
def test_programs_do_the_same_run_and_interpreted() -> None:
    outcomes: list[Outcome] = []
    for seed in range(COUNT):
        text, replies = script(seed)
        try:
            outcomes.append(compare(text, replies))
        except Disagreement as difference:
            pytest.fail(f"{difference}\n\n{text}\n{replies}", pytrace=False)
    assert sum(one.word == "agrees" for one in outcomes) > COUNT // 2


_CAREFUL = """\
f careful(a: int) -> int:
    print("careful", a)
    ret a

print(program $ #1 {careful:approve} $)
"""


def test_a_program_that_was_refused_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    programs = [{"careful": {"a": number}} for number in range(40)]
    refused = next(one for one in programs if decide(PROGRAM, {PROGRAM: one}).arguments is None)
    replies = {1: [json.dumps(refused), "7"]}
    assert compare(_CAREFUL, replies).word == "agrees"
    assert run(check(Source.from_text("a.saft", _CAREFUL)).module, replies).output == ("7",)
    monkeypatch.setattr("tests.oracle.asking.decide", lambda _tool, given: Decided(given))
    with pytest.raises(Disagreement, match="output: expected \\('careful"):
        compare(_CAREFUL, replies)
