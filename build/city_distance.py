# Compiled by saftc from city_distance.saft; edit that file instead.

# A program instead of tool calls: the model answers with one composed call, which is checked as a
# whole and then run. The `conv` of geography.saft says how a city becomes a point, so that the
# program need not. In journey.json such a program is kept; build/journey.py is what it compiles to.

from runtime_support import program
from runtime_support.ops import show

from geography import distance, locate, total

apart = program(
    "How far is Oslo from Rome? Use {distance}.",
    distance=distance,
    conversions=[locate],
    returns=float,
).value
print("Oslo to Rome:", apart, "km")

home = "Oslo"
journey = program(
    "Take the {distance} from {home} to each of {0} and add them up with {total}.",
    ["Rome", "Cairo"],
    distance=distance,
    home=home,
    total=total,
    conversions=[locate],
    returns=float,
).value
print("to Rome and to Cairo:", journey, "km")

answer = program(
    "How far is Cairo from Rome? Use {distance}.",
    distance=distance,
    conversions=[locate],
)
for call in answer.tool_calls:
    print("  ", call.tool, show(call.args))
print("Cairo to Rome:", show(answer.value), "km, in", answer.usage.requests, "request")
