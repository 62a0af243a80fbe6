# Compiled by saftc from in.saft; edit that file instead.
from typing import Any, NoReturn

from runtime_support import Failed
from runtime_support.ops import Failure, failure, kind, parse, show

x: str | None
x = "a"
if x is not None:
    try:
        print(x + "!")
        x = None
        y: int | str
        y = 1
        raise Failed("no")
    except Exception:
        print(show(x), "not the text that it was before")
        y = "text"
    print(y)


def or_none(text: str) -> Any:
    try:
        value = parse(text)
    except Exception as error:
        value = failure(error).message
    return value


print(show(or_none("1")))

count: Any = 1
try:
    count = "many"
    count = [count]
except Exception as exception:
    error = failure(exception)
    print(show(count), show(error))


def declared(values: list[Failure], one: Failure) -> str:
    return one.kind + str(len(values)) + one.message


kept: list[Failure] = []
try:
    if count != 2:
        raise AssertionError
except Exception as exception:
    error = failure(exception)
    kept.append(error)
    print(declared(kept, error), kind(error), show(error == kept[0]))


def stop(reason: str) -> NoReturn:
    raise Failed("stopped: " + reason)


try:
    stop("now")
except Exception as exception:
    error = failure(exception)
    print(error.message if error.kind != "python" else "python")
