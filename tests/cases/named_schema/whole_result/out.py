# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import Result, ToolCall, overlap, prompt
from runtime_support.ops import show


def look_up(city: str) -> str:
    return "sunny in " + city


def log(result: Result[Any], label: str = "asked") -> None:
    print(label, result.text, len(result.tool_calls), show(result.data))


def all_calls(results: list[Result[Any]]) -> list[ToolCall]:
    calls: list[ToolCall] = []
    for result in results:
        calls.extend(result.tool_calls)
    return calls


def ask(city: str) -> Result[str]:
    return prompt("How is {city}? Use {look_up}.", city=city, look_up=look_up)


def whole(city: str) -> Result[Any]:
    return prompt("How is {city}?", city=city)


weather = ask("Oslo")
log(weather)
log(ask("Cairo"), "again")
log(prompt("Say hello"))
print(len(all_calls([weather, whole("Rome")])))
asked: list[Result[Any]] = []


def ask_city(city: str) -> list[Result[Any]]:
    new_asked: list[Result[Any]] = []
    new_asked.append(prompt("How is {city}?", city=city))
    return new_asked


for new_asked in overlap(ask_city, ["Lima", "Pune"]):
    asked.extend(new_asked)
print(show([one.text for one in asked]))
kept = prompt("Say goodbye")
log(kept)
print(kept.model, weather.value.upper())
