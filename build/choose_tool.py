# Compiled by saftc from choose_tool.saft; edit that file instead.

# Choosing between two tools: both are offered, the model takes the one that fits each number.

from runtime_support import prompt


def half(n: int) -> int:
    """Half of an even number."""
    return round(n / 2)


def triple_and_one(n: int) -> int:
    """What comes after an odd number."""
    return 3 * n + 1


def next_numbers(numbers: list[int]) -> list[int]:
    return prompt(
        """
        For each n in {numbers}:
        - if n is even, call {half}
        - if n is odd, call {triple_and_one}

        Return a JSON array of what they gave.
        """,
        numbers=numbers,
        half=half,
        triple_and_one=triple_and_one,
        returns=list[int],
    ).value


numbers = [7, 22, 11, 34]
for number, following in zip(numbers, next_numbers(numbers), strict=False):
    print(number, "becomes", following)
