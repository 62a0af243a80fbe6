# Compiled by saftc from in.saft; edit that file instead.

total = 0
for n in [1, 2, 3, 4]:
    if n == 2:
        continue
    if n == 4:
        break
    total = total + n
print(total)
