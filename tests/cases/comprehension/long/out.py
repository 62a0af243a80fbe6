# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

people = [("Ada Lovelace", 36), ("Grace Hopper", 85)]
names_of_the_older_people = [
    name.upper() + " is " + str(age) for name, age in people if age > 40
]
print(show(names_of_the_older_people))
