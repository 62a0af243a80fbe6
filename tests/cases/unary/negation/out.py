# Compiled by saftc from in.saft; edit that file instead.

x = 3
y = 2.5
print(-x, -y, -(x + 1), -(-x), -3, -2.5, 1 - -1)
