# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt


def look_up(word: str) -> str:
    return word.upper()


topic = "foxes"
for piece in prompt("Tell a story about {topic}.", topic=topic, stream=True).pieces():
    print(piece, end="", flush=True)  # as it comes
for part in prompt("And a shorter one.", stream=True).pieces():
    print(part, end="", flush=True)
print()  # piece by piece
story = prompt(
    """
    And one about {topic:raw},
    with {look_up}.
    """,
    topic=topic,
    look_up=look_up,
    options={"temperature": 0},
)
print(story.value)
pieces = [
    piece.upper()
    for piece in prompt(
        "Use {look_up}.",
        look_up=look_up,
        stream=True,
        rounds=1,
        after=story,
        tools=story.tools,
    ).pieces()
    if piece != ""
]
print(len(pieces), "pieces of", prompt("Begin.").value)
