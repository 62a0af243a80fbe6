"""A conversation as waits: who does these decides how to wait, and the answer is the same."""

from __future__ import annotations

import asyncio
import contextvars
import pickle
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from runtime_support import (
    AuthenticationFailed,
    ConfigError,
    ContractError,
    ProviderError,
    ProviderTimeout,
    RateLimited,
    Result,
    ToolCall,
    ToolsUnsupported,
    Usage,
    configure,
    program,
    prompt,
)
from runtime_support._core.conversation import Conversation
from runtime_support._core.messages import (
    ReceivedChunks,
    Reply,
    ReplyStream,
    Request,
    StreamingProvider,
)
from runtime_support._core.positions.frames import context_of_call
from runtime_support._core.question import Question, prepare
from runtime_support._core.results import Answer
from runtime_support._core.tasks.loops import finish_async
from runtime_support._core.tasks.waits import Wait, finish
from runtime_support.programs._prompting import ProgramCall
from runtime_support.testing import Queued, Scripted, tool_request

Script = Callable[..., Scripted]


def double(number: int) -> int:
    return 2 * number


REPLIES: tuple[Queued, ...] = (tool_request("double", number=4), "eight", "8")
QUESTION = Question("twice {number}, with {double}", (), {"number": 4, "double": double}, int)


def history(answer: Answer) -> tuple[Any, ...]:
    calls = [(call.tool, call.args, call.result, call.error) for call in answer.tool_calls]
    return answer.value, answer.text, calls, answer.usage, answer.model, answer.repairs


def here(asked: Conversation) -> Answer:
    return finish(asked.answer())


def with_asyncio(asked: Conversation) -> Answer:
    return asyncio.run(finish_async(asked.answer()))


def in_a_thread(asked: Conversation) -> Answer:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(here, asked).result()


def each_wait_in_a_thread(asked: Conversation) -> Answer:
    work = asked.answer()
    with ThreadPoolExecutor() as pool:
        try:
            wait = next(work)
            while True:
                wait = work.send(pool.submit(wait.blocking).result())
        except StopIteration as end:
            return end.value


DRIVERS = [here, in_a_thread, each_wait_in_a_thread, with_asyncio]


@pytest.mark.parametrize("driver", DRIVERS)
def test_every_driver_gets_the_same_answer(
    driver: Callable[[Conversation], Answer], scripted: Script
) -> None:
    model = scripted(*REPLIES)
    expected = (
        8,
        "8",
        [("double", {"number": 4}, "8", None)],
        Usage(0, 0, 3),
        "scripted",
        ["asked again: the reply holds no JSON"],
    )
    answer = driver(prepare(QUESTION))
    assert (answer.value, answer.text) == (8, "8")
    assert history(answer)[:5] == expected[:5]
    assert len(answer.repairs) == 1
    assert len(model.requests) == 3


def test_many_prompts_wait_together_on_one_thread() -> None:
    waiting = 0
    most = 0

    async def do() -> Reply:
        nonlocal waiting, most
        waiting += 1
        most = max(most, waiting)
        while most < 50:
            await asyncio.sleep(0)
        waiting -= 1
        return Reply("[1]")

    class Awaited(StreamingProvider):
        def stream_reply(self, request: Request, chunks: ReceivedChunks) -> ReplyStream:
            return (yield Wait(pytest.fail, do))

    async def all_of_them() -> list[Any]:
        options = {"provider": Awaited()}
        asked = [prompt.aio("?", returns=list[int], options=options) for _ in range(50)]
        return [one.value for one in await asyncio.gather(*asked)]

    assert asyncio.run(all_of_them()) == [[1]] * 50


def test_a_program_is_read_and_checked_before_it_does_anything() -> None:
    done: list[int] = []

    def note(number: int) -> int:
        done.append(number)
        return number

    model = Scripted(['[{"note": 1}, {"note": "x"}]', '[{"note": 1}, {"note": 2}]'])

    class Watching:
        def complete(self, request: Request) -> Reply:
            assert done == []
            return model.complete(request)

    result = program("{note}", note=note, options={"provider": Watching()})
    assert result.value == done == [1, 2]
    assert len(model.requests) == 2
    assert [type(call) for call in result.tool_calls] == [ProgramCall, ProgramCall]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit, ZeroDivisionError])
def test_what_the_provider_raises_comes_out_as_it_is(error: type[BaseException]) -> None:
    class Raising:
        def complete(self, request: Request) -> Reply:
            raise raised

    raised = error("stop")
    with pytest.raises(error) as caught:
        prompt("?", options={"provider": Raising()})
    assert caught.value is raised
    assert "complete" in [entry.name for entry in caught.traceback]


def test_ctrl_c_in_a_tool_comes_out(scripted: Script) -> None:
    def hang() -> str:
        raise KeyboardInterrupt

    scripted(tool_request("hang"), "never")
    with pytest.raises(KeyboardInterrupt):
        prompt("{hang}", hang=hang)


# What the model cannot mend


FAILURES = [
    AuthenticationFailed("key refused", status=401),
    ProviderTimeout("too slow"),
    RateLimited("too often", status=429),
    ProviderError("gone"),
    ConfigError("no such model"),
]


@pytest.mark.parametrize("failure", FAILURES, ids=lambda one: type(one).__name__)
def test_a_provider_that_fails_inside_a_tool_is_for_the_user(
    failure: Exception, scripted: Script
) -> None:
    def inner() -> str:
        return prompt("deep question").value

    model = scripted(tool_request("inner"), failure, "the model makes something up")
    with pytest.raises(type(failure)) as caught:
        prompt("use {inner}", inner=inner)
    assert caught.value is failure
    assert len(model.requests) == 2


@pytest.mark.parametrize("pure", [False, True])
def test_a_provider_that_fails_inside_a_program_is_for_the_user(
    pure: bool, scripted: Script
) -> None:
    def inner(of: int) -> str:
        return prompt("deep question {of}", of=of).value

    failure = AuthenticationFailed("key refused", status=401)
    scripted('[{"inner": 1}, {"inner": 2}]', failure, failure)
    with pytest.raises(AuthenticationFailed) as caught:
        program("use {inner}", inner=inner, pure=[inner] if pure else [])
    assert caught.value is failure


def test_a_prompt_inside_a_tool_without_an_answer_is_told_to_the_model(scripted: Script) -> None:
    def inner() -> int:
        return prompt("a number", returns=int).value

    model = scripted(tool_request("inner"), "none", "still none", "then no number")
    assert prompt("use {inner}", inner=inner).value == "then no number"
    assert "error: no usable reply" in model.requests[-1].messages[-1]["content"]


def test_tools_that_a_prompt_inside_a_tool_cannot_have_do_not_begin_the_outer_one_anew(
    scripted: Script,
) -> None:
    def inner() -> str:
        return prompt("deep question").value

    model = scripted(tool_request("inner"), ToolsUnsupported("no tools here"), '{"a": 1}')
    with pytest.raises(ToolsUnsupported):
        prompt("use {inner}", inner=inner, fields={"a": int})
    assert len(model.requests) == 2


def test_an_error_tells_of_the_calls_of_its_own_prompt(scripted: Script) -> None:
    def leaf() -> str:
        return "leaf"

    def inner() -> str:
        return prompt("{leaf}", leaf=leaf).value

    scripted(tool_request("inner"), tool_request("leaf"), ProviderError("gone"))
    with pytest.raises(ProviderError) as caught:
        prompt("{inner}", inner=inner)
    assert [call.tool for call in caught.value.tool_calls] == ["leaf"]


# Results that are there before their answer


class Slow:
    """A provider that answers when it is let."""

    def __init__(self, *replies: Queued) -> None:
        self.model = Scripted(replies)
        self.may_answer = threading.Event()

    def complete(self, request: Request) -> Reply:
        assert self.may_answer.wait(60)
        return self.model.complete(request)


def pending(pool: ThreadPoolExecutor, question: Question) -> Result[Any]:
    asked = prepare(question)
    return Result.of(pool.submit(context_of_call().run, here, asked).result)


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor() as running:
        yield running


def test_a_result_may_be_there_before_its_answer(pool: ThreadPoolExecutor) -> None:
    slow = Slow(tool_request("double", number=4), Reply('{"a": 8}', model="m-1"))
    question = Question(
        "{double}", (), {"double": double}, dict[str, int], options={"provider": slow}
    )
    result = pending(pool, question)
    assert isinstance(result, Result)
    assert repr(result) == "Result(pending)", "showing it in a debugger does not wait"
    slow.may_answer.set()
    assert result.value == {"a": 8}
    assert result.data == {"a": 8}
    assert (result.text, result.model, result.repairs) == ('{"a": 8}', "m-1", [])
    assert result.usage == Usage(0, 0, 2)
    assert [call.result for call in result.tool_calls] == ["8"]
    assert (str(result), repr(result)) == ("{a: 8}", "Result({'a': 8})")


def test_the_fields_of_a_pending_result(pool: ThreadPoolExecutor) -> None:
    a, b = tool_request("__saft_return_a", value=1), tool_request("__saft_return_b", value="x")
    slow = Slow([a, b])
    question = Question("?", (), {}, fields={"a": int, "b": str}, options={"provider": slow})
    result = pending(pool, question)
    slow.may_answer.set()
    assert result.value == (1, "x")
    assert [field.value for field in result.fields] == [1, "x"]
    assert result.fields[1].usage == result.usage


def test_template_settings_and_tools_are_those_of_the_call(pool: ThreadPoolExecutor) -> None:
    slow = Slow("done")
    configure(provider=slow, model="then")
    numbers = [1]
    result = pending(pool, Question("{numbers}", (), {"numbers": numbers}))
    configure(provider=Scripted(), model="now")
    numbers.append(2)
    slow.may_answer.set()
    assert result.value == "done"
    assert slow.model.requests[0].messages[0]["content"] == "[1]"
    assert slow.model.requests[0].model == "then"


def test_what_a_pending_result_failed_with_is_raised_whenever_it_is_asked(
    pool: ThreadPoolExecutor,
) -> None:
    slow = Slow("none", "no")
    result = pending(pool, Question("?", (), {}, int, options={"provider": slow}))
    slow.may_answer.set()
    for _ in range(2):
        with pytest.raises(ContractError, match="after 2 tries"):
            _ = result.usage


def test_a_call_that_cannot_be_is_an_error_at_once(pool: ThreadPoolExecutor) -> None:
    with pytest.raises(TypeError, match="no value for"):
        pending(pool, Question("{missing}", (), {}))


SCRIPT = """from runtime_support._core.question import Question, prepare
from runtime_support._core.tasks.waits import finish

def call(pool):
    return pool.submit(finish, prepare(Question("a number", (), {}, int)).answer())
"""


def test_an_error_has_the_position_of_the_call_not_of_the_thread(
    pool: ThreadPoolExecutor, scripted: Script
) -> None:
    scripted("none", "no")
    source_map = {"version": 3, "sources": ["later.saft"], "mappings": "AAAA;AACA;AACA;AACA;AACA"}
    names: dict[str, Any] = {"__saft_source_map__": source_map, "__name__": "later"}
    exec(compile(SCRIPT, "later.py", "exec"), names)
    result = Result.of(names["call"](pool).result)
    with pytest.raises(ContractError) as caught:
        _ = result.value
    assert caught.value.saft_position == "later.saft:5:1"


def test_a_context_of_the_caller_is_seen_in_the_thread(pool: ThreadPoolExecutor) -> None:
    seen: contextvars.ContextVar[str] = contextvars.ContextVar("seen", default="nothing")

    def look() -> str:
        return seen.get()

    model = Scripted([tool_request("look"), "done"])
    token = seen.set("the caller's")
    try:
        result = pending(pool, Question("{look}", (), {"look": look}, options={"provider": model}))
    finally:
        seen.reset(token)
    assert [call.result for call in result.tool_calls] == ["the caller's"]


# Travelling


def test_results_travel_between_processes(scripted: Script, pool: ThreadPoolExecutor) -> None:
    scripted(*REPLIES)
    result = pending(pool, QUESTION)
    copy: Result[int] = pickle.loads(pickle.dumps(result))
    assert (type(copy), copy.value) == (Result, 8)
    assert copy.tool_calls == result.tool_calls
    assert isinstance(copy.tool_calls[0], ToolCall)
    assert (copy.usage, copy.model, copy.repairs) == (result.usage, result.model, result.repairs)


def test_results_with_fields_travel(scripted: Script) -> None:
    scripted('{"a": 1, "b": [2]}')
    options = {"enforce_schema": "on"}
    result = prompt("?", fields={"a": int, "b": list[int]}, options=options)
    copy = pickle.loads(pickle.dumps(result))
    assert [field.value for field in copy.fields] == [1, [2]]
