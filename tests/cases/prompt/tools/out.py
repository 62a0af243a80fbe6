# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import later, ops, prompt, together
from runtime_support.ops import show


def square(x: int) -> int:
    return x * x


def weather(city: str) -> str:
    return city + ": rain"


look_up = weather
x, y = together(
    later(
        prompt,
        "use {square} and {weather} or {look_up} or {upper}",
        square=square,
        weather=weather,
        look_up=look_up,
        upper=ops.upper,
    ),
    later(
        prompt,
        "compute {square} for each in {0}",
        [1, 2],
        square=square,
        returns=list[int],
    ),
)
tools = [square]
z = prompt("use {0}", tools[0]).value
print(x, show(y), z)
