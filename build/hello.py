# Compiled by saftc from hello.saft; edit that file instead.

# A first typed prompt: a sentence goes in, an object with checked fields comes out.

from typing import TypedDict

from runtime_support import prompt

sentence = "Alice is 30 years old"


class Person(TypedDict):
    name: str
    age: int


person = prompt(
    "Extract the person from {sentence}",
    sentence=sentence,
    returns=Person,
).value
print(f"{person['name']} will be {person['age'] + 1} next year")
