# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import overlap, prompt
from runtime_support.ops import print, show  # print keeps the order


def noisy(word: str) -> str:
    print("about", word)
    return prompt("{word}?", word=word).value


words = list(overlap(noisy, ["a", "b"]))
print(show(words))
