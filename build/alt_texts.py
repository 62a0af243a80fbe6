# Compiled by saftc from alt_texts.saft; edit that file instead.

# Pictures and files in prompts: an alternative text for each picture of a page, in the house style.
# It needs a model that sees. The compiled module is run in this folder, too.

from typing import TypedDict

from runtime_support import file, image, overlap, prompt
from runtime_support.ops import list_files

style = file("pictures/style.txt")


class AltText(TypedDict):
    description: str
    is_decoration: bool


def alt_text(path: str) -> AltText:
    return prompt(
        """
        Write an alternative text of at most ten words for this picture: {0}
        Follow these rules: {style}
        """,
        image(path),
        style=style,
        returns=AltText,
    ).value


def ask_path(path: str) -> tuple[str, AltText]:
    alt = alt_text(path)
    return path, alt


for path, alt in overlap(ask_path, list_files("pictures/*.png")):
    print(f"{path}: {'(decoration)' if alt['is_decoration'] else alt['description']}")
