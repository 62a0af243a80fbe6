# Compiled by saftc from typed_values.saft; edit that file instead.

# Annotations on plain values: what can be proved is checked when the script is compiled,
# what comes from outside is checked when it arrives.

from collections.abc import Callable
from typing import Literal, TypedDict

from runtime_support import check
from runtime_support.ops import parse, show

count: int = 3
ratio: float = 1.0
mode: Literal["fast", "careful"] = "careful"
flags: list[bool] = [True, False, True]
pair: tuple[int, str] = (1, "one")
nickname: str | None = None


class Settings(TypedDict):
    retries: int
    mode: str


settings: Settings = {"retries": count, "mode": mode}

if settings["retries"] != count:
    raise AssertionError
if not (pair[1] == "one" and not flags[1]):
    raise AssertionError
if ratio / 2 != 0.5:
    raise AssertionError
print("settings:", show(settings))


# a function is a value, whose type says what it takes and gives
def tell_each(numbers: list[int], tell: Callable[[int], None]) -> None:
    for number in numbers:
        tell(number)


def print_half(number: int) -> None:
    print("half:", number / 2)


tell_each([count, 4], print_half)

if nickname is not None:
    print(f"hello, {nickname}")
else:
    print("no nickname")

# text from a file or a server has no known shape: the annotation checks it here
received = parse('{"city": "Oslo", "degrees": 4}')


class Reading(TypedDict):
    city: str
    degrees: float


reading: Reading = check(received, Reading)
print(f"{reading['city']}: {reading['degrees']} degrees")
