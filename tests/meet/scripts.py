"""Small scripts, one for each part that a script may have, and a model that answers all of them.

Each has a documented function `go` of a word, so that it can be run, mapped, served, imported,
awaited and called in a cell.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from tests.support.homes import Home


@dataclass(frozen=True)
class Script:
    """A script, what `go("a")` gives, its requests, and the files that it imports.

    Replies that are `unusable` are not kept, so a run that resumes asks for them again.
    """

    text: str
    value: str
    requests: int
    files: dict[str, str] = field(default_factory=dict[str, str])
    unusable: int = 0


REFUND = """\
/// Pays the price of an order back.
f refund(order: string) -> string:
    append_text("paid.txt", f"{order}\\n")
    ret f"paid {order}"
"""
LIBRARY = """\
f titled(word: string) -> string:
    ret $ Title of {word} $
"""
CUSTOMERS = """\
from pydantic import BaseModel, Field


class Customer(BaseModel):
    name: str = Field(min_length=1)
    age: int
"""
SCRIPTS = {
    "overlap": Script(
        """\
/// Titles of three words.
f go(word: string) -> string:
    titles = [$ Title of {one} $ for one in [word, "b", "c"]]
    ret join(titles, " ")
""",
        "A! B! C!",
        3,
    ),
    "try": Script(
        """\
/// How many, or none.
f go(word: string) -> string:
    try:
        n: int = $ Count {word} $
        ret str(n)
    except error:
        title = $ Title of {word} $
        ret f"{error.kind} {title}"
""",
        "contract A!",
        3,
        unusable=2,
    ),
    "import": Script(
        """\
from titles import titled

/// The title of a word.
f go(word: string) -> string:
    ret titled(word)
""",
        "A!",
        1,
        {"titles.saft": LIBRARY},
    ),
    "stream": Script(
        """\
/// A story, by its pieces.
f go(word: string) -> string:
    pieces: [string] = []
    for piece in stream $ Story of {word} $:
        pieces += [piece]
    ret join(pieces, "")
""",
        "Once there was A.",
        1,
    ),
    "program": Script(
        """\
/// The size of a text.
f size(text: string) -> int:
    ret len(text)

/// The size of a word, by a program.
f go(word: string) -> string:
    n: int = program $ Measure {word} with {size}. $
    ret f"size {n}"
""",
        "size 1",
        1,
    ),
    "after": Script(
        """\
/// A conversation.
f go(word: string) -> string:
    chat = $ Title of {word} $
    ret $ Say it again. $ after chat
""",
        "A! again",
        2,
    ),
    "pydantic": Script(
        """\
from customers import Customer

/// A customer's name and age.
f go(word: string) -> string:
    found: Customer = $ Customer {word} $
    ret f"{found.name} {found.age}"
""",
        "a 30",
        1,
        {"customers.py": CUSTOMERS},
    ),
    "mcp": Script(
        """\
from mcp("docs") import search

/// What is found, by the script and by the model.
f go(word: string) -> string:
    found = search(word)[0].title
    said = $ Find {word} with {search}. $
    ret f"{found} {said}"
""",
        "a found a",
        2,
    ),
}


def answer(asked: str) -> Any:
    """What the model says."""
    about = re.search(r'"(\w+)"', asked)
    word = about[1] if about else ""
    match asked.partition(" ")[0]:
        case "Title":
            return f"{word.upper()}!"
        case "Count" | "That":
            return "I cannot tell"
        case "Story":
            return f"Once there was {word.upper()}."
        case "Measure":
            return {"size": {"text": word}}
        case "Say":
            return "A! again"
        case "Customer":
            return {"name": word, "age": 30}
        case "Find":
            return [("search", {"query": word})]
        case "Pay":
            return [("refund", {"order": word})]
    if "title" in asked:
        return "found a"
    return f"done: {asked}"


def settle(home: Home, script: Script, folder: str = "") -> None:
    """Writes a script as `part.saft`, with what it imports, and has the server answer it."""
    home.write(f"{folder}part.saft", script.text)
    for name, text in script.files.items():
        home.write(f"{folder}{name}", text)
    home.reply(answer)
    if "mcp(" in script.text + "".join(script.files.values()):
        home.add_mcp_server()
        locked = home.saftc("mcp", "lock")
        assert locked.code == 0, locked.err
