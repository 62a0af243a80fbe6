# Compiled by saftc from options.saft; edit that file instead.

# Options and limits: `with` sets how one prompt is asked, `do` allows one round of tool calls.

from typing import Literal

from runtime_support import prompt
from runtime_support.ops import show

prices = {"lamp": 39.5, "desk": 210.0, "chair": 85.0}


def price_of(article: str) -> float:
    """The price of an article in euros."""
    return prices[article]


# an object with options may have a name, so that several prompts share it
careful = {"temperature": 0, "seed": 7, "max_repairs": 2}

question = "What does a lamp cost?"
topic: Literal["price", "delivery", "other"] = prompt(
    "What is {question} about?",
    question=question,
    returns=Literal["price", "delivery", "other"],
    options=careful,
).value

# written in place, its keys are checked when the script is compiled
greeting = prompt(
    "Greet the customer {0}.",
    "Ada",
    options={
        "system": "You are a polite shop assistant.",
        "max_tokens": 60,
        "timeout": 30,
    },
).value
print(greeting)

# one round: the tools may be called once, for as many articles as it takes, and then the model
# must answer
costs = prompt(
    "Look up {price_of} for each of {0}.",
    ["lamp", "chair"],
    price_of=price_of,
    returns=list[float],
    rounds=1,
    options=careful,
).value
print(show(costs))

if topic == "price":
    # the tools may be used twice, with three calls in all; more is an error
    total = prompt(
        "Look up {price_of} for each of {0} and give the sum.",
        list(prices),
        price_of=price_of,
        returns=float,
        options={
            "max_tool_rounds": 2,
            "max_tool_calls": 3,
        },
    ).value
    print(f"all three: {total}")
