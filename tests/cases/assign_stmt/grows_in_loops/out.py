# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show


def table(height: int, width: int) -> list[list[int]]:
    rows: list[list[int]] = []
    row: list[int] = []
    for y in range(height):
        for x in range(width):
            row.append(x * y)
        rows.append(row)
        row = []
    return rows


def waiting(limit: int) -> list[int]:
    queue = [limit]
    done: list[int] = []
    while len(queue) > 0:
        first = queue[0]
        queue = queue[1:]
        done.append(first)
        if first > 1:
            queue.append(first - 1)
            queue.append(first - 2)
        if len(done) > 5:
            break
    return done


print(show(table(2, 3)), show(waiting(4)))
xs = [1, 2]
for x in xs:
    # The loop goes over the list: the first one is a copy, which the loop does not see.
    xs = [*xs, x]
    xs.append(x)
for i, x in enumerate(xs[0:2]):
    xs.append(i)
print(show(xs))
