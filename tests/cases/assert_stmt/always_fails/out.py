# Compiled by saftc from in.saft; edit that file instead.


def place_of(name: str, names: list[str]) -> int:
    for position, one in enumerate(names):
        if one == name:
            return position
    raise AssertionError("there is no " + name)


print(place_of("b", ["a", "b"]))
