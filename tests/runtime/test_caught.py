"""What `failure` makes of an exception: its kind, its words, and what passes it on."""

from __future__ import annotations

import json
import linecache
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType
from typing import Any

import pytest

from runtime_support import errors, prompt
from runtime_support._language.failures import KINDS, Failure
from runtime_support.ops import failure, read_text, to_json
from runtime_support.programs import Ambiguity
from runtime_support.testing import Scripted
from saftc.driver import compile_source
from saftc.source import Source

_SAID = "it went wrong"

# Each class of the tree of errors, made as the runtime makes it.
_KINDS: list[tuple[Exception, str]] = [
    (errors.ContractError(_SAID, attempts=(("no", "a reason"),)), "contract"),
    (errors.TruncatedReply(_SAID, text="half"), "truncated"),
    (errors.Refused(_SAID, text="I will not"), "refused"),
    (errors.ToolLimitError(_SAID, limit=3), "tool_limit"),
    (errors.ProviderTimeout(_SAID), "timeout"),
    (errors.RateLimited(_SAID), "rate_limited"),
    (errors.AuthenticationFailed(_SAID), "authentication"),
    (errors.ProviderError(_SAID, status=500), "provider"),
    (errors.ToolsUnsupported(_SAID), "provider"),
    (errors.BudgetSpent(_SAID), "budget"),
    (errors.JournalError(_SAID), "file"),
    (errors.ProgramError(_SAID), "program"),
    (errors.CheckError(_SAID), "check"),
    (errors.MissingError(_SAID), "check"),
    (errors.ZeroError(_SAID), "check"),
    (errors.FileError(_SAID, path="/tmp/x"), "file"),
    (errors.ConfigError(_SAID), "config"),
    (errors.JournalInUse(_SAID), "config"),
    (errors.Failed(_SAID), "failed"),
]


def _caught(code: str, **names: Any) -> Failure:
    """What a compiled module of these lines knows of what they raise."""
    text = f"# Compiled by saftc from x.saft; edit that file instead.\n{code}\n"
    linecache.cache["<x>"] = (len(text), None, text.splitlines(keepends=True), "<x>")
    try:
        exec(compile(text, "<x>", "exec"), names)
    except Exception as exception:
        return failure(exception)
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize(("raised", "kind"), _KINDS, ids=lambda one: type(one).__name__)
def test_each_class_of_error_has_its_kind(raised: Exception, kind: str) -> None:
    error = failure(raised)
    assert (error.kind, error.message) == (kind, _SAID)
    assert error.kind in KINDS
    assert error.exception is raised


def test_no_class_of_error_is_left_out() -> None:
    def below(class_: type[Exception]) -> Iterator[type[Exception]]:
        for inner in class_.__subclasses__():
            if inner.__module__ == errors.__name__:
                yield inner
                yield from below(inner)

    abstract = {errors.PromptError, errors.RunStopped}
    assert {*below(errors.SaftError)} - abstract == {type(raised) for raised, _ in _KINDS}


@pytest.mark.parametrize(
    ("code", "kind", "message"),
    [
        ("assert False, 'too many'", "check", "too many"),
        ("assert False", "check", "assertion failed"),
        ("{'a': 1}['b']", "check", 'missing key "b"'),
        ("[1][3]", "check", "list index out of range"),
        ("1 / 0", "check", "division by zero"),
        ("int('x')", "check", "invalid literal for int() with base 10: 'x'"),
        (
            "def f(): f()\nf()",
            "check",
            "calls nested too deep: does a function call itself for ever?",
        ),
        ("import json\njson.loads('{')", "python", "JSONDecodeError: Expecting property name"),
        ("import os\nos.listdir('/no/such')", "python", "FileNotFoundError: "),
        ("import math\nmath.sqrt(-1)", "python", "ValueError: "),
        ("from math import sqrt\nsqrt(-1)", "python", "ValueError: "),
        ("raise ValueError('a\\x1b[2Jb')", "check", "a\\x1b[2Jb"),
    ],
)
def test_what_python_raises_is_the_script_s_or_python_s(code: str, kind: str, message: str) -> None:
    error = _caught(code)
    assert error.kind == kind
    assert error.message.startswith(message)
    assert (error.text, error.attempts) == (None, 0)


def test_an_exception_without_words_has_its_class_s_name() -> None:
    def fails() -> None:
        raise LookupError

    assert _caught("fails()", fails=fails).message == "LookupError"


def test_an_ambiguity_is_the_script_s_own_failure() -> None:
    assert failure(Ambiguity("two books", ())).kind == "failed"


def test_the_replies_of_a_prompt_stand_in_it() -> None:
    with pytest.raises(errors.ContractError) as caught:
        prompt(
            "How many?",
            returns=int,
            options={"max_repairs": 1, "provider": Scripted(["none", "no"])},
        )
    error = failure(caught.value)
    assert (error.kind, error.text, error.attempts) == ("contract", "no", 2)


def test_it_is_shown_compared_and_written_without_its_exception() -> None:
    one, other = failure(errors.Failed("no")), failure(errors.Failed("no"))
    assert one == other
    assert one.exception is not other.exception
    assert repr(one) == "Failure(message='no', kind='failed', text=None, attempts=0)"


@pytest.mark.parametrize(("raised", "kind"), _KINDS, ids=lambda one: type(one).__name__)
def test_it_pickles_with_what_raised_it(raised: Exception, kind: str) -> None:
    error = pickle.loads(pickle.dumps(failure(raised)))
    assert error == failure(raised)
    assert type(error.exception) is type(raised)
    assert str(error.exception) == str(raised)


def test_it_pickles_without_a_class_that_may_not_be_there() -> None:
    class Own(Exception):
        pass

    error = pickle.loads(pickle.dumps(failure(Own("no"))))
    assert error.message == "Own: no"
    assert isinstance(error.exception, errors.Failed)
    assert str(error.exception) == "Own: no"


def test_passing_it_on_keeps_the_traceback() -> None:
    def fails() -> None:
        read_text("no/such/file.txt")

    with pytest.raises(errors.FileError) as caught:
        try:
            fails()
        except Exception as exception:
            error = failure(exception)
            raise error.exception from None
    frames = [entry.name for entry in caught.traceback]
    assert "fails" in frames


def test_threads_catch_their_own() -> None:
    together = threading.Barrier(8)

    def one(number: int) -> str:
        together.wait()
        return _of(lambda: int(f"x{number}")).message

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(one, range(8)))
    assert all(f"'x{number}'" in said for number, said in enumerate(found))


def _of(action: Callable[[], object]) -> Failure:
    try:
        action()
    except Exception as exception:
        return failure(exception)
    raise AssertionError("nothing was raised")


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_interruptions_are_not_caught_by_a_script(
    stop: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt() -> None:
        raise stop

    module = ModuleType("interrupting")
    vars(module)["interrupt"] = interrupt
    monkeypatch.setitem(sys.modules, "interrupting", module)
    script = "from interrupting import interrupt\ntry:\n    interrupt()\nexcept:\n    print(1)\n"
    compiled = compile_source(Source.from_text("x.saft", script))
    assert compiled.text is not None
    with pytest.raises(stop):
        exec(compiled.text, {})


def test_one_is_json() -> None:
    assert json.loads(to_json(failure(errors.Failed("no")))) == {
        "message": "no",
        "kind": "failed",
        "text": None,
        "attempts": 0,
    }
