# Compiled by saftc from in.saft; edit that file instead.
from random import choice

from runtime_support import prompt
from runtime_support.ops import show, write_text


def ask(text: str) -> str:
    return prompt("{text}?", text=text).value


words = ["a", "b"]
story = ""
for word in words:
    story = prompt("Go on with {story} about {word}.", story=story, word=word).value
for word in words:
    if ask(word) == "":
        raise AssertionError
for word in words:
    if ask(word) == "stop":
        break


def write(words: list[str]) -> None:
    for word in words:
        write_text("a.txt", word)
        print(ask(word))


for word in words:
    print(ask(word), 1 / len(word))
for word in words:
    print(ask(choice([word])))
count = 0
for word in words:
    count += 1
    print(prompt("{count}: {word}", count=count, word=word).value)
for word in words:
    answer = ask(word)
    if answer == "a":
        continue
    story = ask(answer)
while ask("more") == "yes":
    print("more")
print(story, show([one + two for one in words for two in [ask(one)]]))
