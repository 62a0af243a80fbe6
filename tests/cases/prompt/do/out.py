# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt


def weather(city: str) -> str:
    return city + ": rain"


x = prompt("look up {weather} in Oslo", weather=weather, rounds=1).value
y = prompt(
    "count {weather}",
    weather=weather,
    returns=int,
    rounds=1,
    options={"temperature": 0},
).value
print(x, y)
