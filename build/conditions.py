# Compiled by saftc from conditions.saft; edit that file instead.

# Prompts as conditions: in the place of a condition, the model answers yes or no.

from runtime_support import overlap, prompt
from runtime_support.ops import print  # print keeps the order

reviews = [
    "I love this lamp, it looks great",
    "The desk arrived broken",
    "The chair is here",
]


def ask_review(review: str) -> None:
    if prompt("Is the review {review} positive?", review=review, returns=bool).value:
        print(f"thank: {review}")
    elif prompt("Is the review {review} negative?", review=review, returns=bool).value:
        print(f"call: {review}")
    else:
        print(f"file: {review}")


overlap(ask_review, reviews).run()


# `and` asks the second question only when the first answer was yes
def is_urgent(mail: str) -> bool:
    return (
        len(mail) > 10
        and prompt("Is this mail urgent? {mail}", mail=mail, returns=bool).value
    )


def ask_mail(mail: str) -> None:
    print(f"{mail}: {'urgent' if is_urgent(mail) else 'can wait'}")


overlap(ask_mail, ["Server down, please help", "Hi", "See you at lunch"]).run()
