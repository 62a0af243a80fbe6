# Compiled by saftc from in.saft; edit that file instead.

sizes = {"small": 1, "large": 10}
for key in sizes:
    print(key)
for size in sizes.values():
    print(size + 1)
