# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import later, prompt, together

name = "Ada"
ages = [36, 40]
row = {"id": 1}
count = 2
x = prompt("{name} is {ages} or {row}", name=name, ages=ages, row=row).value
y = prompt(
    "{name:raw} is {0} and {1} and {2} and {name:raw} again",
    ages[0],
    count + 1,
    len(name),
    name=name,
).value
z, w = together(
    later(prompt, "{name}{name}{count}", name=name, count=count),
    later(
        prompt,
        "{0} and {1} and {2} and {id} and {3:raw}",
        "literal",
        1,
        [1, 2],
        name.upper(),
        id=row["id"],
    ),
)
print(x, y, z, w)
