"""What holds in a block ends with the block, in whatever order, thread or context it is left."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import AsyncGenerator, Callable, Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from runtime_support import BudgetSpent, configure, current_settings, prompt
from runtime_support.runs import idempotency_key, journal_scope, journaled
from tests.support.fake_server import FakeServer


@pytest.fixture(autouse=True)
def _server(server: FakeServer) -> FakeServer:
    return server


def holding() -> tuple[Any, str, bool]:
    """What holds here: the model of requests, the part of the run, and whether there is a bound."""
    has_budget = False
    try:
        prompt("a")
    except BudgetSpent:
        has_budget = True
    return current_settings().get("model"), idempotency_key(), has_budget


Blocks = Iterator[AbstractContextManager[Any]]


# Each is made when the one before it has been entered.
def settings(folder: Path) -> Blocks:
    yield configure(model="one")
    yield configure(model="two")


def settings_of_their_own(folder: Path) -> Blocks:
    yield configure(model="one")
    yield configure(temperature=1)


def parts(folder: Path) -> Blocks:
    yield journal_scope("one")
    yield journal_scope("two")


def budgets(folder: Path) -> Blocks:
    yield configure(budget_requests=0)
    yield configure(budget_requests=0, model="two")


def journals(folder: Path) -> Blocks:
    yield journaled(folder / "1.journal")
    yield journaled(folder / "2.journal")


def different_ones(folder: Path) -> Blocks:
    yield configure(model="one", budget_requests=0)
    yield journaled(folder / "1.journal")
    yield journal_scope("one")
    yield configure(model="two")
    yield journaled(folder / "2.journal")


KINDS = [settings, settings_of_their_own, parts, budgets, journals, different_ones]


@pytest.mark.parametrize("kind", KINDS)
def test_blocks_may_be_left_in_any_order(
    kind: Callable[[Path], Blocks], tmp_path: Path
) -> None:
    before = holding()
    blocks: list[AbstractContextManager[Any]] = []
    for block in kind(tmp_path):
        block.__enter__()
        blocks.append(block)
    for block in blocks:
        block.__exit__(None, None, None)
    assert holding() == before
    for path in tmp_path.glob("*.journal"):  # free again
        with journaled(path):
            pass


def test_what_is_inside_holds_on_when_what_is_outside_is_left() -> None:
    before = holding()
    outside, part = configure(model="one", temperature=1), journal_scope("one")
    outside.__enter__()
    part.__enter__()
    inside, inner = configure(model="two"), journal_scope("two")
    inside.__enter__()
    inner.__enter__()
    outside.__exit__(None, None, None)
    part.__exit__(None, None, None)
    assert current_settings()["model"] == "two"
    assert "temperature" not in current_settings()
    assert idempotency_key() == "one/two"  # it was that part when it was entered
    inside.__exit__(None, None, None)
    inner.__exit__(None, None, None)
    assert holding() == before


def test_a_block_can_be_entered_twice() -> None:
    before = current_settings()
    block = configure(model="one")
    with block:
        with configure(model="two"):
            with block:
                assert current_settings()["model"] == "one"
            assert current_settings()["model"] == "two"
        assert current_settings()["model"] == "one"
    assert current_settings() == before


def _failing(blocks: Blocks) -> None:
    with suppress(ValueError), ExitStack() as stack:
        for block in blocks:
            stack.enter_context(block)
        raise ValueError


def _of_generator(blocks: Blocks) -> None:
    def pieces() -> Generator[int]:
        with ExitStack() as stack:
            for block in blocks:
                stack.enter_context(block)
            yield 1

    for _ in pieces():
        break
    gc.collect()


def _closed_in_a_thread(blocks: Blocks) -> None:
    def pieces() -> Generator[int]:
        with ExitStack() as stack:
            for block in blocks:
                stack.enter_context(block)
            yield 1

    begun = pieces()
    next(begun)
    thread = threading.Thread(target=begun.close)
    thread.start()
    thread.join()


@pytest.mark.parametrize("leave", [_failing, _of_generator, _closed_in_a_thread])
def test_nothing_is_left_of_blocks_that_end_early(
    leave: Callable[[Blocks], None], tmp_path: Path
) -> None:
    before = holding()
    leave(different_ones(tmp_path))
    assert holding() == before
    for path in tmp_path.glob("*.journal"):
        with journaled(path):
            pass


@pytest.mark.parametrize("is_cancelled", [False, True])
def test_nothing_is_left_of_an_async_generator(is_cancelled: bool, tmp_path: Path) -> None:
    path = tmp_path / "1.journal"

    async def pieces() -> AsyncGenerator[int]:
        with ExitStack() as stack:
            for block in different_ones(tmp_path):
                stack.enter_context(block)
            yield 1
            await asyncio.Event().wait()

    async def consume() -> None:
        generator = pieces()
        async for _ in generator:
            if not is_cancelled:
                break

    async def main() -> None:
        before = current_settings().get("model"), idempotency_key()
        if is_cancelled:
            task = asyncio.create_task(consume())
            while not path.with_name("1.journal-lock").exists():
                await asyncio.sleep(0)
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        else:
            await consume()
        gc.collect()
        async with asyncio.timeout(60):
            while list(tmp_path.glob("*-lock")):
                await asyncio.sleep(0.001)
        assert (current_settings().get("model"), idempotency_key()) == before
        assert (await prompt.aio("a")).value == "ok"  # no budget, and no journal that is closed
        with journaled(path):
            assert (await prompt.aio("b")).value == "ok"

    asyncio.run(main())


def test_a_task_that_was_begun_in_a_block_keeps_what_held_there() -> None:
    async def main() -> None:
        before = await _seen()
        with configure(model="one"), journal_scope("part"):
            task = asyncio.create_task(prompt.aio("a"))
            inside = asyncio.create_task(_seen())
        await task
        assert await inside == ("one", "part")
        assert await _seen() == before

    asyncio.run(main())


async def _seen() -> tuple[Any, str]:
    await asyncio.sleep(0)
    return current_settings().get("model"), idempotency_key()
