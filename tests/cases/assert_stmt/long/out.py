# Compiled by saftc from in.saft; edit that file instead.

some_long_name = "a string"
another_long_name = "another string"
if not (
    some_long_name != another_long_name and len(some_long_name) < len(another_long_name)
):
    raise AssertionError("they are the same")
