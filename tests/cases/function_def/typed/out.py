# Compiled by saftc from in.saft; edit that file instead.


def area(width: float, height: float) -> float:
    return width * height


print(area(2.0, 3.0))
