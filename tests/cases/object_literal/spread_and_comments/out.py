# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import show

row = {
    # who
    "name": "Ada",  # first name
    "age": 36,
    # end
}
print(show(row))
