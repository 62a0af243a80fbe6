# Compiled by saftc from tools.saft; edit that file instead.

# Functions as tools: a function inside a prompt may be called by the model, and only those are.

from runtime_support import prompt
from runtime_support.ops import show

verbs = ["build", "test", "ship"]
suffix = "_done"


def to_upper(verb: str) -> str:
    """The word in capitals."""
    return verb.upper()


def add_suffix(word: str) -> str:
    """The word with the suffix of this project."""
    return word + suffix


steps = prompt(
    """
    For each verb in {verbs}:
    1) call {to_upper} with the verb
    2) call {add_suffix} with what it gave

    Return a JSON array of the final strings.
    """,
    verbs=verbs,
    to_upper=to_upper,
    add_suffix=add_suffix,
    returns=list[str],
).value

print(show(steps))
if len(steps) != len(verbs):
    raise AssertionError
