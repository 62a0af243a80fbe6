# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import Failed
from runtime_support.ops import failure

try:
    print(1 / len([]))
except Exception as error:
    print(failure(error).message)
try:
    raise Failed("no")
except Exception:
    pass
