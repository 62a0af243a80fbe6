# Compiled by saftc from in.saft; edit that file instead.

row = ("Ada", (36, ("London", "UK")))
name, (age, (city, _)) = row
(a, b), c = (1, 2), 3
print(name + city, age + a + b + c)
