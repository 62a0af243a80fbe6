# Compiled by saftc from map_list.saft; edit that file instead.

# Mapping over a list: one prompt for each item, or one prompt for the whole list.

from runtime_support import overlap, prompt
from runtime_support.ops import show

words = ["sea", "mountain", "river"]


def shout(word: str) -> str:
    return prompt(
        "Write the word {word} in uppercase letters. Reply with the word alone.",
        word=word,
    ).value


# three requests, each with one word
one_by_one = list(overlap(shout, words))
print("one by one:", show(one_by_one))

# one request, and the answer must be a list of strings
at_once = prompt(
    "Convert these words to uppercase: {words}",
    words=words,
    returns=list[str],
).value
print("at once:", show(at_once))

# plain code needs no model
lengths = [(word, len(word)) for word in words if len(word) > 3]
for word, length in lengths:
    print(word, "has", length, "letters")
