# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio

from runtime_support import check, prompt


# A function that stays in the module reads what `main` imports.
def root(n: float) -> float:
    return check(numbers.sqrt(n), float)


async def main() -> None:
    global numbers
    answer = (await prompt.aio("Which one?")).value
    if answer == "first":
        import math as numbers
    else:
        import cmath as numbers
    print(root(4.0))


if __name__ == "__main__":
    asyncio.run(main())
