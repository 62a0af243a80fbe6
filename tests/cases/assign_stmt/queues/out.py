# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show


def neighbours(n: int, most: int) -> list[int]:
    return [m for m in [2 * n + 1, 2 * n + 2] if m < most]


# Breadth first.
def search(most: int) -> int:
    queue = [0]
    seen = 0
    while len(queue) > 0 and seen < most:
        # the next one
        first = queue[0]  # beside
        # is done
        queue = queue[1:]
        seen = seen + 1
        for m in neighbours(first, most):
            queue.append(m)
    return seen


def empty(names: list[str]) -> list[str]:
    waiting: list[str] = []
    waiting.extend(names)
    found: list[str] = []
    while len(waiting) > 0:
        name = waiting[0]
        waiting = waiting[1:]
        if len(name) > 1:
            waiting.append(name[1:])
        found.append(name)
    return found


def kept(names: list[str]) -> list[str]:
    # Someone else sees this one.
    waiting = [*names]
    while len(waiting) > 1:
        print(waiting[0])
        waiting = waiting[1:]
    return waiting


def maybe_none(names: list[str]) -> str:
    # Here it may have no first item.
    waiting = [*names]
    name = ""
    while len(name) < 3:
        name = waiting[0]
        waiting = waiting[1:]
    return name


def twice(names: list[str]) -> str:
    waiting = [*names]
    text = ""
    while len(waiting) > 0:
        one = waiting[0]
        waiting = waiting[1:]
        other = waiting[0]
        waiting = waiting[1:]
        text = text + one + other
    return text


def last(names: list[str]) -> str:
    waiting = [*names]
    name = ""
    while len(waiting) > 0:
        name = waiting[0]
        waiting = waiting[1:]
    return name


print(search(20), show(empty(["abc", "d"])), show(kept(["a", "b"])), last(["a", "b"]))
print(maybe_none(["a", "bcd"]), twice(["a", "b"]))


def unlike_none(names: list[str]) -> list[str]:
    waiting = [*names]
    found: list[str] = []
    while waiting != [] and len(found) < 3:
        name = waiting[0]
        waiting = waiting[1:]
        if waiting == []:
            waiting.extend(found)
        found.append(name)
    return found


def until_none(names: list[str]) -> str:
    waiting = [*names]
    text = ""
    while True:
        if len(waiting) == 0 or len(text) > 9:
            break
        name = waiting[0]
        waiting = waiting[1:]
        text = text + name
    return text


def otherwise(names: list[str]) -> str:
    waiting = [*names]
    text = ""
    for i in range(5):
        if [] == waiting:
            text = text + "."
        elif not len(waiting) < 2:
            one = waiting[0]
            waiting = waiting[1:]
            text = text + one
        else:
            # The one that is left, of a list that is read below.
            one = waiting[0]
            waiting = waiting[1:]
            text = text + show(waiting) + one
    return text


def behind_a_turn(names: list[str]) -> str:
    # Behind the first turn it may have no item.
    waiting = [*names]
    text = ""
    if len(waiting) > 0:
        for i in range(3):
            one = waiting[0]
            waiting = waiting[1:]
            text = text + one
    return text


print(show(unlike_none(["a", "b"])), until_none(["a", "b"]), otherwise(["a", "b"]))
print(behind_a_turn(["a", "b", "c"]))
# Whoever imports the module sees a list.
left = ["a", "b"]
while 0 < len(left):
    first = left[0]
    left = left[1:]
    print(first)
