# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import failure, show


def numbers(texts: list[str]) -> tuple[list[int], list[tuple[str, str]]]:
    found: list[int] = []
    failed: list[tuple[str, str]] = []
    for text in texts:
        try:
            found.append(int(text))
        except Exception as error:
            failed.append((text, failure(error).kind))
    return (found, failed)


def kept_before(texts: list[str]) -> tuple[list[int], list[int]]:
    found: list[int] = []
    last: list[int] = found
    for text in texts:
        try:
            last = found
            found = [int(text)]
            found.append(1)
        except Exception:
            # Where the second line failed, `last` is the same list.
            found = [*found, 0]
    return (found, last)


print(show(numbers(["1", "x"])), show(kept_before(["1", "x", "2"])))
total: list[int | float] = []
try:
    total.append(1)
    total.append(1 / (len(total) - 1))
except Exception:
    total.append(2)
print(show(total))
