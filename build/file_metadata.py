# Compiled by saftc from file_metadata.saft; edit that file instead.

# Metadata of each text file in a folder: what the file system does not know is asked for, and the
# catalogue is written where CATALOGUE says. The compiled module is run in this folder, too.

import os
from dataclasses import dataclass
from typing import Annotated, Literal

from runtime_support import overlap, prompt
from runtime_support.ops import list_files, read_text, show, to_json, write_text


@dataclass(frozen=True)
class Entry:
    """One text file, as it stands in the catalogue."""

    file: str
    title: str
    language: str
    changed: str | None
    words: int


def describe(path: str) -> Entry:
    text = read_text(path)
    title, language, changed = prompt(
        """
        Give the title and the language of this text, and the date when it was last changed.

        {text:raw}
        """,
        text=text,
        fields={
            "title": str,
            "language": Literal["English", "German", "French"],
            "changed": Annotated[str | None, "the date of the last change, YYYY-MM-DD"],
        },
    ).value

    # counting is for code
    return Entry(path, title, language, changed, words=len(text.split()))


entries = list(overlap(describe, list_files("notes/*.txt")))
for entry in entries:
    print(f"{entry.file}: {entry.title}")
    print(f"    {entry.language}, {entry.words} words, changed {show(entry.changed)}")

target = os.environ.get("CATALOGUE")
if target is not None:
    write_text(target, to_json(entries) + "\n")
    print(f"written to {target}")
