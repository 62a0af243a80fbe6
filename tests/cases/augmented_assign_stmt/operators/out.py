# Compiled by saftc from in.saft; edit that file instead.

# counts and texts
n = 1
n += 2  # three
n -= 1 - 2
n *= n + 1
n %= 7
ratio = 1.0
ratio /= 2
text = "a"
for word in ["b", "c"]:
    text += word + ","
while n < 10:
    n += 3
print(n, ratio, text)
