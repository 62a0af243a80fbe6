# Compiled by saftc from in.saft; edit that file instead. This is the async form.
import asyncio
from typing import Any

from runtime_support import ops, prompt
from runtime_support.ops import parse, show


async def ask(text: str) -> str:
    return (await prompt.aio("{text}", text=text)).value


# what another script has made may have functions that wait
data: Any = parse("{}")


async def main() -> None:
    print(show(await ops.acall(ops.send, data, "count", "a")), await ask("b"))
    print((await prompt.aio("Use {ask}.", ask=ask)).value)


if __name__ == "__main__":
    asyncio.run(main())
