# Compiled by saftc from choose_tool.saft; edit that file instead.
from runtime_support import prompt

# Choosing between two tools: both are offered, the model takes the one that fits.


def add(a: int, b: int) -> int:
    """The sum of two numbers."""
    return a + b


def multiply(a: int, b: int) -> int:
    """The product of two numbers."""
    return a * b


def solve(question: str) -> int:
    return prompt(
        "Use either {add} or {multiply} to answer this: {question:raw}",
        add=add,
        multiply=multiply,
        question=question,
        returns=int,
    ).value


for question in ["What is the sum of 6 and 7?", "What is the product of 6 and 7?"]:
    print(question, solve(question))
