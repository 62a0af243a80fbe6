# Compiled by saftc from in.saft; edit that file instead.


def ratio(a: int, b: int) -> float:
    if b == 0:
        return 0.0
    return a / b


def name_of(row: dict[str, str]) -> str:
    return row["name"]


print(ratio(1, 2), name_of({"name": "Ada"}))
