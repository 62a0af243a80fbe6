# Compiled by saftc from in.saft; edit that file instead. This is the async form.

# What stays in the module, and what `main` runs.

import asyncio
from contextlib import suppress

from runtime_support import overlap, prompt

names = ["Ada", "Grace"]
tone = "dry"


# asks
async def greet(name: str) -> str:
    return (
        await prompt.aio(
            "Greet {name} in a {tone} tone, for {place}.",
            name=name,
            tone=tone,
            place=place,
        )
    ).value


# does not
def loud(text: str) -> str:
    return text.upper() + sign


# a definition below it stays where it can be imported
def shout(text: str) -> str:
    return loud(text)


# a call begins with the outer value
def dated(text: str) -> str:
    with suppress(NameError):
        day_ = day

    def note() -> None:
        print(day_)

    note()
    day_ = "today"
    return text + day_


place: str
sign: str
day: str


async def main() -> None:
    global place, sign, day, tone
    count = 0
    longest = ""
    log: list[str] = []

    place = (await prompt.aio("Name a place.")).value

    # below the first prompt
    sign = "!"
    async for greeting in overlap.aio(greet, names):
        count += 1
        log.append(greeting)  # grows in place
        if len(greeting) > len(longest):
            longest = greeting

    day = "never"
    tone = "warm"
    print(dated("ready, "), day)
    print(count, longest, shout("done"))
    for name in log:
        print(name)

    # the end


if __name__ == "__main__":
    asyncio.run(main())
