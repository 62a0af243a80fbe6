# Compiled by saftc from in.saft; edit that file instead.
import os


def sign(x: int) -> str:
    if x > 0:
        word = "plus"
    return word


for item in range(3):
    last = item
print(last)
print(sign(1))

# Certainly assigned, on every way that goes on.
while True:
    answer = os.environ.get("ANSWER")
    if answer is not None:
        break
print(answer)
for size in [1, 2]:
    square = size * size
print(square)
