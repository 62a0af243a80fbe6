# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt
from runtime_support.ops import show

ages = [36]
ages_so_far = list[int]()
for item in prompt(
    "More than {ages}.", ages=ages, returns=list[int], stream=True
).items():
    ages_so_far = [*ages_so_far, item]
    ages = ages_so_far
    ages_so_far_2 = list[int]()
    for item in prompt(
        "Fewer than {ages}.", ages=ages, returns=list[int], stream=True
    ).items():
        ages_so_far_2 = [*ages_so_far_2, item]
        ages = ages_so_far_2
        print(len(ages))
print(show(ages))


def last_of(question: str) -> list[str] | None:
    names: list[str] | None = None
    names_so_far = list[str]()
    for item in prompt(
        "{question:raw}", question=question, returns=list[str], stream=True
    ).items():
        names_so_far = [*names_so_far, item]
        names = names_so_far
        print(names[-1])
    return names


print(show(last_of("Who?")))
