from __future__ import annotations

import typing
from collections.abc import Awaitable, Callable
from dataclasses import dataclass


def scale(by: int) -> Callable[[int], int]:
    return lambda x: x * by


def repeat() -> typing.Callable[[str, int], str] | None:
    return lambda text, times: text * times


def open_ended() -> Callable[..., int]:
    return lambda *given: len(given)


def later() -> Callable[[str], Awaitable[str]]:
    async def give(text: str) -> str:
        return text

    return give


def identity() -> Callable[[typing.Any], typing.Any]:
    return lambda x: x


@dataclass
class Job:
    name: str
    run: Callable[[int], str]
    done: Callable[[str], None] | None = None
