"""Lists and a dict that grow item by item, written by hand."""


def work(count):
    numbers = []
    doubled = []
    squares = {}
    for i in range(count):
        numbers.append(i)
        doubled.append(i * 2)
        squares[str(i)] = i * i
    return numbers, doubled, squares
