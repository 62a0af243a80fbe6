# Compiled by saftc from async_effects.json; edit that file instead.
import asyncio

from tools import is_odd, later


async def main() -> int:
    await later(1)
    n = await later(2)
    return n if is_odd(n=n) else await later(n=n)


if __name__ == "__main__":
    print(asyncio.run(main()))
