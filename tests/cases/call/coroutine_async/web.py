from collections.abc import Awaitable, Callable, Coroutine
from typing import Any


async def fetch(url: str) -> str:
    return "page of " + url


def size(url: str) -> Awaitable[int]:
    raise NotImplementedError(url)


def parts(url: str) -> Coroutine[Any, Any, list[str]]:
    raise NotImplementedError(url)


def traced(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


@traced
async def perhaps(url: str) -> str:
    return url


class Client:
    async def get(self, url: str) -> str:
        return await fetch(url)


def client() -> Client:
    return Client()


def anything() -> Any:
    return Client()
