# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt


def spell(word: str) -> str:
    return "-".join(word.split())


def opinion(topic: str) -> str:
    """Only asks: calls of it may run at the same time."""
    return prompt("What do you think of {topic}?", topic=topic).value


def said(topic: str) -> str:
    """Asks, and prints in its turn."""
    answer = prompt("Speak about {topic}.", topic=topic).value
    print(answer)
    return answer


talk = prompt(
    "Compare tea and coffee.",
    tools=[spell, opinion, said],
    pure=[opinion],  # may be called at the same time
)
more = prompt("And milk, with {said}?", said=said, after=talk, tools=talk.tools).value
print(
    talk.value,
    more,
    prompt(
        "And water, with {opinion}?",
        opinion=opinion,
        pure=[opinion],  # may be called at the same time
    ).value,
    prompt("And {spell}?", spell=spell).value,
)
