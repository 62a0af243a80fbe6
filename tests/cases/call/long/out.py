# Compiled by saftc from in.saft; edit that file instead.


def describe(name: str, city: str, country: str) -> str:
    return name + city + country


print(
    describe(
        "a rather long name for a person",
        "a rather long name for a city",
        "and a country",
    )
)
x = describe(
    describe("first name", "first city", "country"),
    describe("second name", "second city", "country"),
    "third",
)
print(x)
