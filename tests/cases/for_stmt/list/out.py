# Compiled by saftc from in.saft; edit that file instead.

for x in [1, 2, 3]:
    print(x * 2)

names = ["Ada", "Grace"]
for name in names:
    print(name.upper())
