# Compiled by saftc from in.saft; edit that file instead.


def grade(points: int) -> str:
    if points > 90:
        return "A"
    elif points > 80:
        return "B"
    else:
        return "C"


print(grade(95), grade(85), grade(5))
