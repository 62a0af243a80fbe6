# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

row = {"name": "Ann", "two words": "x"}
words = ["a", "b"]
print(f"it's \"{row['name']}\" with {row['two words']} \\ é \t{{}}")
print("{} and {} and {}".format(", ".join(words), "\n".join(words), "'".join(words)))
print("{} {}".format(f"{row['name']}!", show([f"<{word}>" for word in words])))
print(f"{ {'id': 1}['id'] } {'é'.upper()}")
