# Compiled by saftc from in.saft; edit that file instead.

for i in range(3):
    print(i + 1)
for i in range(1, 10, 2):
    print(i)
