# Compiled by saftc from in.saft; edit that file instead.

data = [[1, 2], [3, 4]]
print(data[0][1] + data[1][0])
