# Compiled by saftc from weather_report.saft; edit that file instead.

# Imports: a sibling script with its types, a Python module of one's own, and Python's library.
# The compiled module needs units.py on Python's path: PYTHONPATH=examples

import math
from statistics import median

from runtime_support import prompt
from runtime_support.ops import show

from stations import Station, stations
from stations import station_in as look_up
from units import fahrenheit


def typical_temperature(city: str) -> float:
    """The middle of what the station in a city has measured, in degrees Celsius."""
    # of a list of floats; what Python's library gives is known as well
    return float(median(look_up(city).readings))


def spread(station: Station) -> float:
    return max(station.readings) - min(station.readings)


for station in stations:
    print(station.city, typical_temperature(station.city), "+-", spread(station) / 2)

# an annotated Python function keeps its types, and its docstring describes it as a tool
latest = [station.readings[-1] for station in stations]
degrees = prompt(
    "Convert {latest}, each with {fahrenheit}.",
    latest=latest,
    fahrenheit=fahrenheit,
    returns=list[float],
).value
print("in Fahrenheit:", show([math.floor(one) for one in degrees]))

names = [station.city for station in stations]
report = prompt(
    "How warm is it in each of {names}? Call {typical_temperature}.",
    names=names,
    typical_temperature=typical_temperature,
).value
print(f"report: {report}")
