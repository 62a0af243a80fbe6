# Compiled by saftc from longest_name.saft; edit that file instead.

# The longest name: a value goes in as JSON, and a plain prompt answers with text.

from runtime_support import prompt

people = ["Al", "Barbara", "Bo", "Christopher"]

answer = prompt(
    "Who has the longest name in {people}? Reply with the name alone.",
    people=people,
).value
print(f"the model says {answer}")

# what code can do, code should do: this costs nothing and is always right
longest = max(people, key=len)
print(f"it is {longest}")
