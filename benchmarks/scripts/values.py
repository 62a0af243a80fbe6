"""Values whose kind is known only when the program runs."""

Value = int | str | list[int] | None


def weight(value: Value) -> int:
    if value is None:
        return 0
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return len(value)
    return sum(value)


def pick(number: int) -> Value:
    if number % 4 == 0:
        return None
    if number % 4 == 1:
        return number
    if number % 4 == 2:
        return "text"
    return [number, number]


def work(size: int) -> int:
    total = 0
    for number in range(size):
        value = pick(number)
        if value is not None:
            total += weight(value)
    return total
