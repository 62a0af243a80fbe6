# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import overlap, prompt
from runtime_support.ops import print, show  # print keeps the order


def later(text: str) -> str:
    return prompt("Later: {text}", text=text).value


ask_word = 1
new_found = 2
item = 3
overlap_ = 4
found: list[str] = []


def ask_word_2(word: str) -> list[str]:
    new_found_2: list[str] = []
    list_ = later(word)
    if list_ != "":
        new_found_2.append(list_)
        new_found_2.append(prompt("Again: {list}", list=list_).value)
    return new_found_2


for new_found_2 in overlap(ask_word_2, ["a", "b"]):
    found.extend(new_found_2)
print(show(found), ask_word, new_found, item, overlap_)


def ask_a(item_2: tuple[str, int]) -> None:
    a, b = item_2
    print(later(a), b)


overlap(ask_a, [("x", 1), ("y", 2)]).run()


def ask_word_3(word: str) -> None:
    print(later(word + "!"))


overlap(ask_word_3, found).run()
