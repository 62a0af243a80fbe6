# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

from runtime_support import Result, check, ops, overlap, prompt
from runtime_support.ops import failure, kind, parse, show


def greet(n: str) -> Result[str]:
    return prompt("Greet {n}", n=n)


store: dict[str, Result[Any]] = {}
store["ada"] = greet("Ada")
b = prompt("more", after=store["ada"]).value
print(b, store["ada"].text, len(store["ada"].tool_calls))
r = prompt("a")
r = prompt("b")
print(show(r.tool_calls), r.text)
rs: list[Result[Any]] = []


def ask_n(n: str) -> list[Result[Any]]:
    new_rs: list[Result[Any]] = []
    new_rs.append(greet(n))
    return new_rs


for new_rs in overlap(ask_n, ["a", "b"]):
    rs.extend(new_rs)


def ask_n_2(n: str) -> list[Result[Any]]:
    new_rs: list[Result[Any]] = []
    new_rs.append(prompt("of {n}", n=n))
    return new_rs


for new_rs in overlap(ask_n_2, ["c", "d"]):
    rs.extend(new_rs)
print(show([one.text for one in rs]))
y: float = 1.0
y += 1
y = 3.0
print(y, kind(y))


@dataclass(frozen=True)
class P:
    x: int


p: P = P(1)
p = check(parse('{"x": 5}'), P)
print(show(p), kind(p))
v: Any = parse('"s"')
xs: list[int] = []
try:
    xs.append(check(v, int))
except Exception as e:
    print(failure(e).message)
try:
    xs.append(check(v, int))
except Exception as e:
    print(failure(e).message)
try:
    xs.append(check(v, int))
except Exception as e:
    print(failure(e).message)
d: dict[str, int] = {}
try:
    d["k"] = check(v, int)
except Exception as e:
    print(failure(e).message)


class OneOfThem(TypedDict):
    a: int
    b: str | None


one_of_them: OneOfThem = {"a": 1, "b": None}
one_of_them = {"a": 2, "b": None}
try:
    one_of_them = {"a": check(v, int), "b": None}
except Exception as e:
    print(failure(e).message)
k: Literal["a", "b"] = "a"
k = "b"
w: list[str] = check(parse('["a"]'), list[str])
for q in [1, 2]:
    w = check(ops.add(w, parse('["b"]')), list[str])
try:
    w = check(ops.add(w, parse("[1]")), list[str])
except Exception as e:
    print(failure(e).message)
print(show(xs), show(d), show(one_of_them), k, show(w))
t: tuple[int, float] = (1, 2.0)
t = (3, 4.0)
print(show(t))


def loop() -> str | None:
    best: str | None = None
    for n in ["x", "y"]:
        if best is None:
            best = n
        else:
            best = None
    return best


print(show(loop()))
i: int = 0
while i < 3:
    i = i + 1
print(i)
ii = prompt("how many", returns=int).value
ii = prompt("how many now", returns=int).value
print(ii)
