# Compiled by saftc from user_info.saft; edit that file instead.

# Destructuring: one prompt gives several values, each with its own name and type.

from runtime_support import overlap, prompt
from runtime_support.ops import print  # print keeps the order

people = [
    "Alice Berg, 31 years old, alice@berg.example",
    "Bob Lund is 17 years old and has no address",
]


def add_person(line: str) -> int:
    age: int
    name, age, email = prompt(
        "Read the user info in {line}.",
        line=line,
        fields={"name": str, "age": int, "email": str | None},
    ).value
    place = email if email is not None else "no mail"
    print(f"{name} ({place}) {'may vote' if age >= 18 else 'is too young to vote'}")
    return age


ages = list(overlap(add_person, people))
print(f"the oldest is {max(ages)}")
