# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt
from runtime_support.ops import show


def shelve(words: dict[str, int]) -> str:
    """Puts the words on the shelf."""
    return "".join(words)


counts = prompt(
    "Shelve these with {shelve}",
    shelve=shelve,
    returns=dict[str, int],
    rounds=1,
).value
found, rest = prompt(
    "Sort the words in {counts}",
    counts=counts,
    fields={"found": dict[str, list[str]], "rest": str},
).value
print(show(found), rest)
