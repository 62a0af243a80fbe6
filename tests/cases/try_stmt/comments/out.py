# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import failure

# above
try:  # beside try
    # first
    x = 1
    # last of the block
# above except
except Exception as error:  # beside except
    # in it
    print(failure(error).message)
    # last of all
print(1)

try:
    x = 2
except Exception:
    pass

try:
    x = 3
except Exception:
    x = 4
