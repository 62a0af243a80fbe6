# Compiled by saftc from greet_pair.saft; edit that file instead.

# A tool that takes a pair: tuples keep their length and the type of each place.

from runtime_support import overlap, prompt
from runtime_support.ops import print  # print keeps the order


def greet(pair: tuple[str, str]) -> str:
    """A greeting for two people who meet."""
    one, other = pair
    return f"Hello {one}, this is {other}."


def ask_pair(pair: tuple[str, str]) -> None:
    print(
        prompt(
            "Introduce the people in {pair} with {greet}, and repeat what it says.",
            pair=pair,
            greet=greet,
        ).value
    )


overlap(ask_pair, [("Ada", "Grace"), ("Alan", "Kurt")]).run()

# the same function, called without a model
if greet(("Ada", "Grace")) != "Hello Ada, this is Grace.":
    raise AssertionError
