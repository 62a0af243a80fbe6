# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ToolCall, Usage, prompt


def look_up(city: str) -> str:
    return "sunny in " + city


def shown(call: ToolCall) -> str:
    return call.tool + " took " + str(round(call.duration))


def cost(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens


weather = prompt("How is Oslo? Use {look_up}.", look_up=look_up)
calls: list[ToolCall] = weather.tool_calls
for call in calls:
    print(shown(call))
print(cost(weather.usage))
