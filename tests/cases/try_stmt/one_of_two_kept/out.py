# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import Failed
from runtime_support.ops import failure

# Where one block keeps the failure in a variable, all blocks of the function do.
try:
    raise Failed("a")
except Exception as exception:
    error = failure(exception)
    print(error.message)
try:
    raise Failed("b")
except Exception as exception:
    error = failure(exception)
    print(error.kind, error.message)


def other() -> None:
    try:
        raise Failed("c")
    except Exception as error:
        print(failure(error).message)


other()
