# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import later, prompt, together


def weather(city: str) -> str:
    return city + ": rain"


x, y = together(
    later(prompt, "look up {weather} in Oslo", weather=weather, rounds=1),
    later(
        prompt,
        "count {weather}",
        weather=weather,
        returns=int,
        rounds=1,
        options={"temperature": 0},
    ),
)
print(x, y)
