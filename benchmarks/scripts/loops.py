"""Nested loops: counting, comparing and indexing."""


def work(size: int) -> int:
    table = [[row * column % 7 for column in range(size)] for row in range(size)]
    total = 0
    for row in range(size):
        for column in range(size):
            value = table[row][column]
            if value == 0:
                continue
            turns = 0
            while turns < value:
                turns += 1
                total += turns * row - column
    return total
