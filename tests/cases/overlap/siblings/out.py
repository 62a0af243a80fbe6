# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import later, overlap, prompt, together
from runtime_support.ops import print, show  # print keeps the order

import helpers
from helpers import loud, save, strict
from middle import check, grade, shown, twice

words = ["a", "b"]

# known through all scripts
one = list(overlap(helpers.grade, words))
two = list(overlap(loud, words))
three = list(overlap(twice, words))
four = list(overlap(grade, words))


def ask_word(word: str) -> None:
    helpers.banner(word)
    print(grade(word))


overlap(ask_word, words).run()
first, second = together(
    later(helpers.grade, "x"),
    later(loud, "y"),
)


def ask(text: str) -> str:
    return prompt("What is {text} beside {banner}?", text=text, banner=banner).value


banner = helpers.grade("z")


# in order
def keep(words: list[str]) -> list[str]:
    return [save(word) for word in words]


five = [strict(word) for word in words]
seven = [shown(word) for word in words]
eight = [check(word) for word in words]
print(
    show(one),
    show(two),
    show(three),
    show(four),
    first,
    second,
    show(five),
    show(seven),
    show(eight),
    ask("b"),
)
