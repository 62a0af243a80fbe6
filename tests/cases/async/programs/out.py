# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio

from runtime_support import ops, program, prompt
from runtime_support.ops import parse, show
from runtime_support.programs import Plan, run


def double(x: int) -> int:
    return x * 2


async def judge(text: str) -> str:
    return (await prompt.aio("Judge {text}.", text=text)).value


async def main() -> None:
    plan = (
        await program.aio(
            "Double 5 with {double}, and {judge} it.",
            double=double,
            judge=judge,
            pure=[judge],
            returns=Plan,
        )
    ).value
    print(show(await run.aio(plan)))
    value = (await program.aio("{double} of 4.", double=double, returns=int)).value
    print(value)
    kept: Plan = Plan.read(
        parse("{}"), {"double": double, "judge": judge}, pure=[judge]
    )
    execute = run.aio
    print(show(await ops.acall(execute, kept)))


if __name__ == "__main__":
    asyncio.run(main())
