# Compiled by saftc from in.saft; edit that file instead. This is the async form.
from typing import Any

from runtime_support import ops
from runtime_support.ops import show


def twice(change: Any, x: str) -> Any:
    return ops.call(change, ops.call(change, x))


print(show(twice(ops.upper, "a")), show(sorted(["b", "a"], key=len)))


def main() -> None:
    print("as without --async")


if __name__ == "__main__":
    main()
