# Compiled by saftc from titles.saft; edit that file instead.

# A script that survives a failure, and prompts that go on with a conversation: each note is summed up,
# and the summary gets a title. What cannot be read or answered is told, and left out.
# The compiled module is run in this folder, too.

from runtime_support import overlap, prompt
from runtime_support.ops import failure, print, read_text  # print keeps the order

titles: dict[str, str] = {}


def ask_name(name: str) -> dict[str, str]:
    new_titles: dict[str, str] = {}
    try:
        note = read_text(f"notes/{name}.txt")
        summary = prompt("Sum up in one sentence: {note:raw}", note=note)
        title = prompt("Now give it a title of three words.", after=summary).value
        print(f"{name}: {summary.value}")
        new_titles[name] = title
    except Exception as error:
        print(f"{name} is left out: a failure of kind {failure(error).kind}")
    return new_titles


for new_titles in overlap(ask_name, ["bread", "lost", "fjord"]):
    titles.update(new_titles)

for name, title in titles.items():
    print(f"{name} is called {title}")
