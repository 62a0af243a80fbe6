# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import prompt
from runtime_support.ops import changed, show

from places import Age, Cities, Codes, European, cities_of


def birthday(age: Age) -> Age:
    return Age(age.root + 1)


codes = prompt("Which countries have a coast?", returns=Codes).value
print(codes.first(), len(codes.root))
for code in codes.root:
    print(code + "!")
found: Cities | None = prompt(
    "Which cities are in {codes}? Use {cities_of}.",
    codes=codes,
    cities_of=cities_of,
    returns=Cities | None,
).value
if found is not None:
    print(found.root["de"].name)
more = European(root=["de"])
print(birthday(Age(3)).root, show(changed(more, root=["fr"])))
age, others = prompt(
    "How old is Rome, and what is near?",
    fields={"age": Age, "others": list[Codes]},
).value
print(age.root, show(others))
draft: Any
for draft in prompt(
    "Which cities are on rivers?", returns=Cities, stream=True
).drafts():
    print(show(list(draft)))
for draft in prompt("Which countries are large?", returns=Codes, stream=True).drafts():
    print(show([*draft, "x"]))
