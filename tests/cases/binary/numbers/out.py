# Compiled by saftc from in.saft; edit that file instead.

a = 7
b = 2.0
print(a + 1, a - 1, a * 2, a / 2, a % 2, a + b, b / a)
print(a + 2 * 3, (a + 2) * 3, a - (2 - 1), a / (2 * 3), a * 2 % 3, a - 2 - 1)
