# Compiled by saftc from objects.json; edit that file instead.
import asyncio

from tools import double, wait


async def main() -> int:
    return double(n=await wait(1))


if __name__ == "__main__":
    print(asyncio.run(main()))
