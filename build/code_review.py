# Compiled by saftc from code_review.saft; edit that file instead.

# A code-review helper: reads a diff, asks for findings file by file, and prints a report with the
# serious ones first. DIFF names a diff. The compiled module is run in this folder, too.

import os
from typing import Literal, TypedDict

from runtime_support import overlap, prompt
from runtime_support.ops import print, read_text  # print keeps the order

diff = read_text(os.environ.get("DIFF", "review/change.diff"))


class Piece(TypedDict):
    path: str
    text: str


class Finding(TypedDict):
    line: int
    severity: Literal["low", "medium", "high"]
    comment: str


def split_files(text: str) -> list[Piece]:
    """The diff cut into one piece for each file."""
    pieces: list[Piece] = []
    for part in ("\n" + text).split("\ndiff --git "):
        if part.strip() == "":
            continue
        first = part.split("\n")[0]
        path = first.split(" b/")[-1]
        pieces.append({"path": path, "text": part})
    return pieces


def changed_lines(text: str, sign: str) -> int:
    lines = [line for line in text.split("\n") if line.startswith(sign)]
    return len([line for line in lines if not line.startswith(sign + sign)])


def review(path: str, text: str) -> list[Finding]:
    return prompt(
        """
        You review a change to {path:raw}. List at most two things that a maintainer must know:
        bugs, security problems, missing error handling. Leave out matters of taste.
        Give the line in the new file.

        {text}
        """,
        path=path,
        text=text,
        returns=list[Finding],
    ).value


findings: list[tuple[str, str, str]] = []


def ask_piece(piece: Piece) -> list[tuple[str, str, str]]:
    new_findings: list[tuple[str, str, str]] = []
    added = changed_lines(piece["text"], "+")
    removed = changed_lines(piece["text"], "-")
    print(f"{piece['path']} +{added} -{removed}")

    # documentation and pure deletions need no model
    if piece["path"].endswith(".md") or added == 0:
        return new_findings
    for finding in review(piece["path"], piece["text"]):
        place = f"{piece['path']}:{finding['line']}"
        new_findings.append((finding["severity"], place, finding["comment"]))
    return new_findings


for new_findings in overlap(ask_piece, split_files(diff)):
    findings.extend(new_findings)

print()
for level in ["high", "medium", "low"]:
    for severity, place, comment in findings:
        if severity == level:
            print(f"{severity.upper()} {place}: {comment}")
print(f"{len(findings)} findings")
