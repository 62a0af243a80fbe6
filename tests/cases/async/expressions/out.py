# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio
from typing import TypedDict

from runtime_support import later, overlap, prompt, together
from runtime_support.ops import show

names = ["Ada", "Grace"]


async def is_old(name: str) -> bool:
    return (await prompt.aio("Is {name} old?", name=name, returns=bool)).value


async def initial(name: str) -> str:
    return (await prompt.aio("The initial of {name}, please.", name=name)).value


class Person(TypedDict):
    name: str
    tags: list[str]


async def main() -> None:
    # conditions, and only as much as they need
    if (
        await is_old("Ada")
        and not await is_old("Bob")
        or (await prompt.aio("Is it late?", returns=bool)).value
    ):
        print("first")
    elif await is_old("Eve"):
        print("second")
    while await is_old("Ada") and not (await prompt.aio("Enough?", returns=bool)).value:
        print("again")
    if not (await is_old("Ada") or True):
        raise AssertionError("never " + await initial("Ada"))
    print("old" if await is_old("Ada") else (await prompt.aio("What else?")).value)

    # comprehensions
    print(show([await initial(name) for name in names if await is_old(name)]))
    print(
        show(
            [
                await initial(one) + two
                for one in names
                for two in await overlap.aio(initial, names)
                if await is_old(one)
            ]
        )
    )
    print(
        show(any(await overlap.aio(is_old, names))),
        show(all(await overlap.aio(is_old, names))),
    )

    async def ask_name(name: str) -> int:
        return len(await initial(name))

    print(
        sum(await overlap.aio(ask_name, names)),
        ", ".join(await overlap.aio(initial, names)),
    )

    # operands, members, items, texts
    print(
        f"{await initial(names[0])} and {(await prompt.aio('A word.')).value:>10} and {len(await initial('Ada')):,}"
    )
    print(
        len(await initial("Ada")) + 1,
        -len(await initial("Bob")),
        (await initial("Ada"))[0],
        (await initial("Eve"))[1:2],
    )
    person = (await prompt.aio("Who is {names}?", names=names, returns=Person)).value
    print(
        show({**person, "name": await initial(person["name"])}),
        show([*person["tags"], await initial("x")]),
        show((await initial("y"), 1)),
    )
    print(
        show({await initial("key"): (await prompt.aio("A value.")).value}),
        (await prompt.aio("A list.")).usage.requests,
        (await prompt.aio("Text.")).text,
    )
    (city, people), pair = await together.aio(
        later(prompt.aio, "Describe a city.", fields={"city": str, "people": int}),
        later(prompt.aio, "A pair.", returns=tuple[str, int]),
    )
    c, d = pair
    print(city, people, c, d)


if __name__ == "__main__":
    asyncio.run(main())
