# Compiled by saftc from in.saft; edit that file instead.


def length_of(text: str | None) -> int:
    if text is None:
        raise AssertionError
    return len(text)


print(length_of("abc"))
