# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import Result, overlap, prompt


def look_up(city: str) -> str:
    return "sunny"


answer: Result[str] | str
answer = prompt("How is it in Oslo? Use {look_up}.", look_up=look_up)
print(answer.value, len(answer.tool_calls))
answer = answer.value.strip()
print(answer)


def ask_city(city: str) -> Result[str]:
    report = prompt("How is it in {city}? Use {look_up}.", city=city, look_up=look_up)
    return report


report: Result[str] | str
for report in overlap(ask_city, ["Oslo", "Cairo"]):
    if len(report.tool_calls) == 0:
        continue
    report = report.value.upper()
    print(report)
