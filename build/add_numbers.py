# Compiled by saftc from add_numbers.saft; edit that file instead.

# Adding numbers by prompt: the annotation makes the answer an int, so it can be calculated with.

from runtime_support import prompt

a = 17
b = 25

total = prompt("What is the sum of {a} and {b}?", a=a, b=b, returns=int).value
print(f"the model says {total}")
print(f"which is off by {abs(total - (a + b))}")


def add_all(numbers: list[int]) -> int:
    return prompt("Add up all of {numbers}.", numbers=numbers, returns=int).value


print(f"all together: {add_all([a, b, total])}")
