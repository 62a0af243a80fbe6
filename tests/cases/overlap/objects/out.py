# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass
from typing import Literal

from runtime_support import overlap, prompt
from runtime_support.ops import show


@dataclass(frozen=True)
class Mail:
    id: str
    text: str


def sort(mail: Mail) -> Literal["spam", "work"]:
    return prompt("Sort {mail}", mail=mail, returns=Literal["spam", "work"]).value


def read(text: str) -> list[Mail]:
    return prompt("The mails in {text}", text=text, returns=list[Mail]).value


def pairs(words: list[str]) -> dict[str, str]:
    def ask_a(item: tuple[str, str]) -> tuple[str, str]:
        a, b = item
        return a + b, prompt("{a} or {b}?", a=a, b=b).value

    return dict(overlap(ask_a, [(a, b) for a in words for b in words if a != b]))


mails = read("inbox")


def ask_mail(mail: Mail) -> tuple[str, Literal["spam", "work"]]:
    return mail.id, sort(mail)


sorted_ = dict(overlap(ask_mail, [mail for mail in mails if mail.text != ""]))
print(show(sorted_), show(pairs(["x", "y"])))


def ask_mail_2(mail: Mail) -> tuple[str, str]:
    return prompt("A word for {mail}", mail=mail).value, prompt("Another one").value


print(show(dict(overlap(ask_mail_2, mails))))


def ask_words(words: list[str]) -> dict[str, str]:
    def ask_word(word: str) -> tuple[str, str]:
        return word, prompt("{word}", word=word).value

    return dict(overlap(ask_word, words))


print(show(list(overlap(ask_words, [["a"], ["b"]]))))


def ask_word_2(word: str) -> tuple[str, str]:
    return word, prompt("{word}", word=word).value


for word in dict(overlap(ask_word_2, ["b", "a"])):
    print(word)
in_order = {mail.text[0]: sort(mail) for mail in mails}
