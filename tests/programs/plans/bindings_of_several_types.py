# Compiled by saftc from bindings_of_several_types.json; edit that file instead.
from runtime_support.programs import coerce
from tools import add, any_, is_odd, note


def main() -> int:
    if is_odd(1):
        t = note("t")
        a = t
    else:
        a = coerce(any_(of="4"), int)
    return add(a=a, b=1)


if __name__ == "__main__":
    print(main())
