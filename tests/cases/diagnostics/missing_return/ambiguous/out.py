# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.programs import ambiguous, option


def find(title: str, year: int | None = None) -> int:
    if year is not None:
        return year
    raise ambiguous("2 books are called " + title, [option("the first", year=1815)])


def age(title: str, year: int | None = None) -> int:
    if year is None:
        raise ambiguous("which one?", [option("the first", year=1815)])
    return 2000 - year


print(find("Emma", 1815), age("Emma", 1815))
