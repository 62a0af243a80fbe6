# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio

from runtime_support import approve, later, ops, prompt, together


def refund(order: str) -> str:
    return order


def class_(text: str) -> int:
    return len(text)


def look(order: str) -> str:
    return order


pay = refund
support = [look, approve(refund)]


async def main() -> None:
    a = await prompt.aio(
        "Help her.",
        tools=[look, approve(refund), ("class", approve(class_))],
    )
    b, c, d = await together.aio(
        later(prompt.aio, "And now?", after=a, tools=a.tools),
        later(prompt.aio, "Help him.", tools=support),
        later(
            prompt.aio,
            "Help me.",
            options={"temperature": 0},
            tools=[("pay", approve(pay)), ("len", approve(ops.len))],
        ),
    )
    print(b, c, d)


if __name__ == "__main__":
    asyncio.run(main())
