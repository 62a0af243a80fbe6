# Compiled by saftc from in.saft; edit that file instead.
import os

from runtime_support.ops import show

# What the first turn finds, a later one may not: it is no mistake to ask for it.
longest = None
for word in "a bcd ef".split():
    if longest is not None:
        print(longest.upper())
    if longest is None or len(word) > len(longest):
        longest = word
print(show(longest))

count = 0
place: int | None = None
while count < 3:
    if place is not None and place > 0:
        print(place + count)
    if count == 1:
        place = count
    count += 1

# A `break` takes with it what holds where it stands.
while True:
    answer = os.environ.get("ANSWER", "yes") if count > 2 else None
    if answer is not None:
        break
print(answer + "!")
