# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

row = {
    # who
    "name": "Ada",  # first name
    "age": 36,
    # end
}
print(show(row))
