# Compiled by saftc from in.saft; edit that file instead.

names = ["Ada", "Grace"]
ages = [36, 85]
for i, name in enumerate(names):
    print(i + 1, name)
for name, age in zip(names, ages, strict=False):
    print(name + " " + str(age))
for pair in zip(names, ages, strict=False):
    print(pair[0], pair[1] + 1)
for name in reversed(names):
    print(name)
for name in sorted(names, reverse=True):
    print(name)
