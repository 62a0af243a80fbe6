# Compiled by saftc from in.saft; edit that file instead.


def length_of(text: str | None) -> int:
    assert text is not None
    return len(text)


print(length_of("abc"))
