# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt


def weather(city: str) -> str:
    return city


def go(city: str) -> str:
    sky: str
    temperature, sky = prompt(
        "use {weather} for {city}",
        weather=weather,
        city=city,
        fields={"temperature": float, "sky": str},
        rounds=1,
    ).value
    if temperature > 20:
        return "hot and " + sky
    return sky


print(go("Oslo"))
