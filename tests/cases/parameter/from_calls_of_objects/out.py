# Compiled by saftc from in.saft; edit that file instead.
from typing import Any


def dist(a: dict[str, int], b: dict[str, int]) -> int:
    return abs(a["x"] - b["x"]) + abs(a["y"] - b["y"])


def middle(p: dict[str, float], q: dict[str, float]) -> dict[str, float]:
    return {"x": (p["x"] + q["x"]) / 2, "y": (p["y"] + q["y"]) / 2}


def total(orders: list[dict[str, Any]]) -> int:
    sum_ = 0
    for order in orders:
        for line in order["lines"]:
            sum_ = sum_ + line["price"] * line["count"]
    return sum_


def oldest(ages: dict[str, int]) -> str:
    best = ""
    for name in ages:
        if best == "" or ages[name] > ages[best]:
            best = name
    return best


def tags_of(note: dict[str, list[str]]) -> str:
    return ", ".join(note["tags"])


home = {"x": 1, "y": 2}
print(dist(home, {"x": 3, "y": 4}))
points = [{"x": 0.5, "y": 0.0}, {"x": 1.5, "y": 2.0}]
print(middle(points[0], points[1])["x"])
print(total([{"id": 1, "lines": [{"price": 2, "count": 3}]}, {"id": 2, "lines": []}]))
print(oldest({"ada": 36, "bo": 3}))
for note in [{"tags": ["a"]}, {"tags": ["b", "c"]}]:
    print(tags_of(note))
