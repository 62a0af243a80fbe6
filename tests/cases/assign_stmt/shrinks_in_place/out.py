# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

# A queue and a stack that nobody else holds.
queue = ["a"]
seen: list[str] = []
while len(queue) > 0:
    one = queue[0]
    queue = queue[1:]
    seen.append(one)
    if len(one) < 4:
        queue.extend([one + "a", one + "b"])
print(show(seen))


def last_two(words: list[str]) -> list[str]:
    stack = [word for word in words if word != ""]
    while len(stack) > 4:
        stack = stack[:-1]
    stack = stack[-2:]
    return stack


print(show(last_two(seen)))
kept = queue
queue = queue[1:]
print(show(kept), show(queue))
for word in seen:
    seen = seen[1:]
    print(word, show(seen))
