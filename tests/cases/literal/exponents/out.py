# Compiled by saftc from in.saft; edit that file instead.

large = 1e16
small = 2.50e-3
padded = 1e05
as_float: float = 1000.0
print(large, small, padded, as_float)
