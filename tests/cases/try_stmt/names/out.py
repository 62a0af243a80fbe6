# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import Failed
from runtime_support.ops import failure

error = "mine"
exception_ = "a name that the module needs"


def go() -> str:
    try:
        raise Failed("no")
    except Exception as error_:
        print(failure(error_).message)
    return error


print(go(), exception_)
try:
    raise Failed("here")
except Exception as exception:
    class_ = failure(exception)
    print(class_.kind)

    def told() -> str:
        return class_.message

    print(told())
try:
    raise Failed("and here")
except Exception as exception:
    class__ = failure(exception)
    print(class__.message)
