# Compiled by saftc from in.saft; edit that file instead.

name = "Ann"
count = 3
print(f"{name} has {count} letters")
print("no holes", "", f"{name}", f"{count + 1}{name}")
