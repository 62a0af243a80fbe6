# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops, prompt, show


def square(x: int) -> int:
    return x * x


def weather(city: str) -> str:
    return city + ": rain"


look_up = weather
x = prompt(
    "use {square} and {weather} or {look_up} or {upper}",
    square=square,
    weather=weather,
    look_up=look_up,
    upper=ops.upper,
).value
y = prompt(
    "compute {square} for each in {0}",
    [1, 2],
    square=square,
    returns=list[int],
).value
tools = [square]
z = prompt("use {0}", tools[0]).value
print(x, show(y), z)
