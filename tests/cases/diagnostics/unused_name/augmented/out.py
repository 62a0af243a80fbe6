# Compiled by saftc from in.saft; edit that file instead.

hits = 0


def count() -> None:
    hits_ = hits + 1


count()
print(hits)
