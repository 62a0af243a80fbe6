# Compiled by saftc from in.saft; edit that file instead.
from typing import NoReturn

from runtime_support import Failed
from runtime_support.ops import failure


def outer(n: int) -> str:
    try:
        try:
            raise Failed("inner " + str(n))
        except Exception as exception:
            error = failure(exception)
            try:
                raise
            except Exception as exception_:
                error_ = failure(exception_)
                print("again", error_.message)
            try:
                print(n)
            except Exception:
                raise error.exception

            def later() -> NoReturn:
                raise error.exception

            if n == 1:
                later()
            raise
    except Exception as exception:
        error_ = failure(exception)
        return error_.message


print(outer(0), outer(1))
