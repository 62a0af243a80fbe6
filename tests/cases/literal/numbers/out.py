# Compiled by saftc from in.saft; edit that file instead.

print(0, 12, 1_000, 123456789012345678901234567890, 1.5, 1e-3, 1e3, 2.0, 1.5e10, 0.1)
