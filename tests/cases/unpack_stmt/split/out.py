# Compiled by saftc from in.saft; edit that file instead.


def name_of(path: str) -> str:
    _, name = path.split("/")
    return name.upper()


xs: list[tuple[int, str]] = [(1, "a"), (2, "b")]
(n, word), other = xs
print(name_of("notes/a.txt"), n + 1, word, other[0])
