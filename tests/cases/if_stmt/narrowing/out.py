# Compiled by saftc from in.saft; edit that file instead.


def length_of(text: str | None) -> int:
    if text is None:
        return 0
    return len(text)


def size(value: int | str | list[int]) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, int):
        return value + 1
    return value[0]


def either(a: str | None, b: str | None) -> str:
    if a is not None and b is not None:
        return a + b
    if a is not None or b is not None:
        return "one"
    return "none"


def reached(text: str | None) -> str:
    if text is None:
        return "none"
    return text + "!"


print(length_of(None), size("abc"), size(4), size([9]), either("a", None), reached("a"))
