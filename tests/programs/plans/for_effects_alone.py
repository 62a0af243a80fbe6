# Compiled by saftc from for_effects_alone.json; edit that file instead.
from tools import is_odd, note, whole, words


def main() -> int:
    for n in whole():
        if is_odd(n=n):
            note(text=str(n))
    words()
    for n_ in [1, 2]:
        is_odd(n=note("test"))
    if not is_odd(1):
        note("other")
    is_odd(n=note("odd"))
    if is_odd(1):
        m = note("m")
        note(text=str(m))
    return 2


if __name__ == "__main__":
    print(main())
