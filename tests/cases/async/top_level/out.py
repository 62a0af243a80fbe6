# Compiled by saftc from in.saft; edit that file instead.
import asyncio

from runtime_support import prompt

# What stays in the module, and what `main` runs.

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


place: str
sign: str


async def main() -> None:
    global place, sign, tone
    count = 0
    longest = ""
    log: list[str] = []

    place = (await prompt.aio("Name a place.")).value

    # below the first prompt
    sign = "!"
    for name in names:
        greeting = await greet(name)
        count += 1
        log.append(greeting)  # grows in place
        if len(greeting) > len(longest):
            longest = greeting

    tone = "warm"
    print(count, longest, shout("done"))
    for name in log:
        print(name)

    # the end


if __name__ == "__main__":
    asyncio.run(main())
