# Compiled by saftc from longest_name.saft; edit that file instead.
from runtime_support import prompt

# The longest name: a value goes in as JSON, and a plain prompt answers with text.

people = ["Al", "Barbara", "Bo", "Christopher"]

answer = prompt(
    "Who has the longest name in {people}? Reply with the name alone.",
    people=people,
).value
print("the model says " + answer)

# what code can do, code should do: this costs nothing and is always right
longest = people[0]
for person in people:
    if len(person) > len(longest):
        longest = person
print("it is " + longest)
