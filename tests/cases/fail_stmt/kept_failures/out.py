# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import Failure, failure

kept: list[Failure] = []
for n in [1, 2]:
    try:
        if n != 2:
            raise AssertionError("not two")
    except Exception as error:
        kept.append(failure(error))


def raise_first(failures: list[Failure]) -> int:
    if len(failures) > 0:
        raise failures[0].exception
    return 1


print(raise_first(kept))
