# Compiled by saftc from tool_history.saft; edit that file instead.

# How an answer came about: a name bound to a prompt is its value, and it also knows which tools
# were called, what they gave, and what the prompt cost.

from runtime_support import Result, ops, prompt
from runtime_support.ops import show

readings = {"Oslo": 3.5, "Cairo": 30.0, "Lima": 19.0}


def temperature(city: str) -> float:
    """Current temperature in a city, in degrees Celsius."""
    if city not in readings:
        raise AssertionError(f"no station in {city}")
    return readings[city]


# a function that gives a prompt's result without a type passes the history on
def warmest(cities: list[str]) -> Result[str]:
    return prompt(
        "Which of {cities} is the warmest? Call {temperature} for each city.",
        cities=cities,
        temperature=temperature,
    )


answer = warmest(["Oslo", "Cairo", "Atlantis"])

# used as a value it is the model's text
print(f"answer: {answer.value}")

# a tool that fails does not stop the script: the model gets the error, and the call is on record
for call in answer.tool_calls:
    if call.error is not None:
        print(call.tool, show(call.args), "failed:", call.error)
    else:
        print(call.tool, show(call.args), "gave", show(call.result))
print(f"asked {answer.model} in {answer.usage.requests} requests")

# an untyped answer that is JSON can be looked into
known = prompt("Give {readings} back as JSON.", readings=readings)
print(f"Lima has {show(ops.member(known.data, 'Lima'))} degrees")
print(f"read from {len(known.text)} characters of text")
