# Compiled by saftc from story.saft; edit that file instead.

# A story that appears while the model writes it, and a description of which the script sees
# each piece as it comes.

from runtime_support import prompt

topic = "a fox without a tail"
for part in prompt(
    "Tell a story about {topic:raw} in three sentences.",
    topic=topic,
    stream=True,
).pieces():
    print(part, end="", flush=True)
print()

print("The sea:")
letters = 0
for piece in prompt("Describe the sea in two sentences.", stream=True).pieces():
    print(piece, end="", flush=True)
    letters += len(piece)
print()
print(letters, "letters")
