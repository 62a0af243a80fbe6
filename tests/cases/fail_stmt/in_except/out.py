# Compiled by saftc from in.saft; edit that file instead.

# what fails in a handler has what was caught for its cause

from typing import NoReturn

from runtime_support import Failed, ops
from runtime_support.ops import failure, read_text


def read(path: str) -> str:
    try:
        return read_text(path)
    except Exception as exception:
        raise Failed(f"cannot read {path}") from exception


def told(path: str) -> str:
    try:
        return read(path)
    except Exception as error:
        raise Failed(f"no text: {failure(error).message}") from error


def twice(path: str) -> str:
    try:
        return told(path)
    except Exception as exception:
        error = failure(exception)
        if error.kind == "authentication":
            raise
        raise Failed(f"no text: {error.message}") from exception


def nested(path: str) -> None:
    try:
        print(told(path))
    except Exception as exception:
        try:
            print(told("other.txt"))
        except Exception as exception_:
            if path == "":
                raise Failed("no path") from exception_
        raise Failed("neither file") from exception


def earlier(path: str) -> None:
    try:
        print(told(path))
    except Exception as first:
        try:
            print(told("other.txt"))
        except Exception:
            raise first

        def stop() -> NoReturn:
            raise Failed("called later")

        stop()


for one in [read, told, twice, nested, earlier]:
    try:
        ops.call(one, "missing.txt")
    except Exception as error:
        print(failure(error).message)
