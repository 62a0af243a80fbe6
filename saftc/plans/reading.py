"""The file of a plan: its text, and the stretch of it that a JSON Pointer names.

{"add": {"a": 1, "b": "two"}}      /add/b      "two"
"""

import json
import re

from saftc.source import Source, Span

_SPACE = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


def not_json(source: Source) -> tuple[str, Span] | None:
    """Why the text is not a JSON, and where; None when it is."""
    text = source.text
    try:
        text.encode()
        json.loads(text)
    except UnicodeEncodeError as error:
        return "it is not UTF-8", Span(error.start, error.end)
    except json.JSONDecodeError as error:
        last = len(text.rstrip()) - 1
        is_cut = error.pos > last
        message = "it ends too early" if is_cut else error.msg
        start = max(last, 0) if is_cut else error.pos
        return message, Span(start, start + 1)
    except RecursionError:
        return "it is nested too deeply", Span(0, 1)
    return None


def span_of(source: Source, pointer: str) -> Span:
    """The stretch of a value in JSON text; of an object, its first line's.

    A place that is not in the text is that of the innermost value around it.
    """
    text = source.text
    start = _skip(text, 0)
    for step in pointer.split("/")[1:]:
        inner = _inside(text, start, step.replace("~1", "/").replace("~0", "~"))
        if inner is None:
            break
        start = inner
    end = _DECODER.raw_decode(text, start)[1]
    line_end = text.find("\n", start, end)
    return Span(start, end if line_end < 0 else line_end)


def _inside(text: str, start: int, step: str) -> int | None:
    """Where the element or the value of this key begins in the list or object at `start`."""
    opening = text[start]
    if opening not in "[{":
        return None
    position, index = _skip(text, start + 1), 0
    while text[position] not in "]}":
        key: object = str(index)
        if opening == "{":
            key, position = _DECODER.raw_decode(text, position)
            position = _skip(text, _skip(text, position) + 1)
        if key == step:
            return position
        _, position = _DECODER.raw_decode(text, position)
        position = _skip(text, position)
        if text[position] == ",":
            position = _skip(text, position + 1)
        index += 1
    return None


def _skip(text: str, position: int) -> int:
    match = _SPACE.match(text, position)
    return position if match is None else match.end()
