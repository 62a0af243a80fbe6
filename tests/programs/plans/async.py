# Compiled by saftc from async.json; edit that file instead.
import asyncio

from runtime_support.ops import show
from tools import later


async def main() -> list[int]:
    return [await later(n=n) for n in [1]]


if __name__ == "__main__":
    print(show(asyncio.run(main())))
