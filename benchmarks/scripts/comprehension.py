"""Comprehensions: nested, filtered, and of tuples."""


def work(size: int) -> int:
    pairs = [(a, b) for a in range(size) for b in range(size) if (a + b) % 3 == 0]
    sums = [a * b for a, b in pairs]
    triples = [(a, b, a * a + b * b) for a, b in pairs if a < b]
    named = [{"place": place, "value": value} for place, value in enumerate(sums)]
    large = [row for row in named if row["value"] > size and row["place"] % 2 == 0]
    return sum(sums) + len(large) + max([c for _, _, c in triples])
