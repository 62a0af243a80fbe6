# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass
from decimal import Decimal

from runtime_support import prompt
from runtime_support.ops import show


@dataclass(frozen=True)
class Line:
    what: str
    price: Decimal


@dataclass(frozen=True)
class Post:
    title: str
    tags: list[str]
    lines: list[Line]


for draft in prompt("Write a post about foxes.", returns=Post, stream=True).drafts():
    if draft["title"] is not None:
        print(draft["title"])
    for line in draft["lines"] if draft["lines"] is not None else []:
        print(line.price)

rows_so_far = list[Line]()
for item in prompt("What is on the menu?", returns=list[Line], stream=True).items():
    rows_so_far = [*rows_so_far, item]
    rows = rows_so_far
    print(len(rows))

for text in prompt("Tell a story.", stream=True).drafts():
    print(text)

menu = prompt("What else?", returns=list[Line], stream=True)
for row in menu.items():
    print(row.what)
print(len(menu.value), show(menu.usage))

post = prompt("Another one.", returns=Post, stream=True)
for draft in post.drafts():
    print(show(draft["title"]))
print(post.value.title, post.finish)
