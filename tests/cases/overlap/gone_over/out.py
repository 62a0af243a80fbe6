# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import overlap, prompt
from runtime_support.ops import show


def grade(text: str) -> int:
    return prompt("Grade {text}", text=text, returns=int).value


def ask(text: str) -> str:
    return prompt("{text}", text=text).value


texts = ["a", "b"]
print(
    sum(list(overlap(grade, texts))),
    max(list(overlap(grade, texts))),
    ", ".join(list(overlap(ask, texts))),
)


def ask_one(one: str) -> bool:
    return ask(one) == "a"


print(
    show(sorted(list(overlap(ask, texts)))),
    show(any(list(overlap(ask_one, texts)))),
    min(list(overlap(ask, texts)), key=grade),
)
print(show([len(one) for one in list(overlap(ask, texts))]))
print(show([1 / len(one) for one in list(overlap(ask, texts))]))
total = 0
for points in list(overlap(grade, texts)):
    total += points
for i, points in enumerate(list(overlap(grade, texts))):
    total += points * i
for points in list(overlap(grade, texts)):
    print(points)
for text in list(overlap(ask, texts)):
    texts.append(text)
try:
    for points in list(overlap(grade, texts)):
        total += points
except Exception:
    print(total)
for text in list(overlap(ask, texts)):
    if text == "x":
        break
for a, b in zip(list(overlap(ask, texts)), texts, strict=False):
    total += len(a + b)
found = [*list(overlap(ask, texts)), "x"]
print(total, show(found))
