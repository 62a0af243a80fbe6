# Compiled by saftc from in.saft; edit that file instead.
from typing import Literal

from runtime_support import later, prompt, together
from runtime_support.ops import show

Mood = Literal["glad", "sad"]


def grade(text: str, most: int = 10) -> int:
    return prompt(
        "Grade {text} from 0 to {most}.",
        text=text,
        most=most,
        returns=int,
    ).value


text = "a text"

# what it says
summary, risks, points, (title, pages) = together(
    later(prompt, "Sum up {text}.", text=text),  # short
    # what could go wrong
    later(prompt, "What are the risks in {text}?", text=text, returns=list[str]),
    later(grade, text, most=5),  # of 5
    later(prompt, "What is {text}?", text=text, fields={"title": str, "pages": int}),
)
print(summary, show(risks), points, title, pages)


def moods(text: str) -> str:
    one: Mood = prompt("How is {text}?", text=text, returns=Mood).value
    first, second = together(
        later(prompt, "The first word of {text}", text=text),
        later(prompt, "The second word of {text}", text=text),
    )
    third = prompt("What comes after {second}?", second=second).value
    return first + third + one


print(moods(text))
once = prompt("Once.").value
print(once)
twice = prompt("Twice.").value
print(twice)
