"""Removes thinking before a model's answer, and splits off code fences.

    without_thinking("<think>hm</think>4")     "4"
    split_fences("Here:\n```\n4\n```")         (["4"], "Here:")
"""

from __future__ import annotations

import re

THINKING_TAGS = ("think", "thinking", "thought", "thoughts", "reasoning")
OPENS_THINKING = re.compile(rf"\s*+<(?:{'|'.join(THINKING_TAGS)})>", re.IGNORECASE)
CLOSES_THINKING = re.compile(rf"</(?:{'|'.join(THINKING_TAGS)})>", re.IGNORECASE)
_OPENS_FENCE = re.compile(r"(```|~~~)[ \t]*+[\w.+-]*+")


def without_thinking(text: str, *, is_text: bool = False) -> str:
    """Returns the text after the leading blocks of a model's thinking.

    The opening tag of the first block may be missing, because some servers put this tag into the
    prompt. If the prompt asks for text (`is_text`), this tag is required.
    """
    position = 0
    while (opening := OPENS_THINKING.match(text, position)) is not None:
        closing = CLOSES_THINKING.search(text, opening.end())
        position = len(text) if closing is None else closing.end()
    is_open = position == 0 and not is_text and text.lstrip()[:1] not in ("{", "[", '"', "`")
    closing = CLOSES_THINKING.search(text) if is_open else None
    return text[position if closing is None else closing.end() :]


def split_fences(text: str) -> tuple[list[str], str]:
    """Returns the contents of the code fences, and the text outside of the fences.

    The last fence may be unclosed.
    """
    contents: list[list[str]] = []
    outside: list[str] = []
    fence = ""
    for line in text.split("\n"):
        bare = line.strip()
        opening = None if fence else _OPENS_FENCE.fullmatch(bare)
        if opening is not None:
            fence = opening[1]
            contents.append([])
        elif fence and bare.endswith(fence):
            contents[-1].append(bare.removesuffix(fence))
            fence = ""
        else:
            (contents[-1] if fence else outside).append(line)
    return ["\n".join(lines) for lines in contents], "\n".join(outside)
