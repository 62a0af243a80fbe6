# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass
from typing import Any

from runtime_support import check, ops, prompt
from runtime_support.ops import parse, show

import clothes
from clothes import Address, Person, Row, Shirt, Size, newest


@dataclass(frozen=True)
class Parcel:
    shirt: Shirt
    to: Person | None = None


shirt = Shirt("silk", 20, size=Size.LARGE)
print(
    shirt.label() + "!",
    show(shirt.size == Size.LARGE),
    show(ops.eq(shirt.size, "large")),
    shirt.size.value + "?",
)
ada = Person(name="Ada", address=Address(city="London"))
print(ada.address.city + "!", len(ada.friends), ada.model_dump_json() + "")
found = prompt("Who is in {ada}?", ada=ada, returns=Person).value
print(found.friends[0].name + "!", show(newest().tags), newest().name + "?")
parcel: Parcel = check(parse("{}"), Parcel)
size: Size = check(parse("large"), Size)
print(show(parcel), show(size))
for row in clothes.rows():
    print(row["id"] + 1, show(row.get("note")), show(row.get("note") is None))
pair: list[dict[str, Any]] = [{**clothes.rows()[0], "total": 3}]
print(show(pair[0].get("note")))


def first_row() -> Row:
    return clothes.rows()[0]


def first_friend(person: Person) -> Address:
    return person.friends[0].address


print(show(first_row().get("note")), first_friend(found).city)
