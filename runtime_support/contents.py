"""The content of a message: text, or parts of text, pictures and files.

    content_of(["What is in ", image("photo.png"), "?"])
    -> [{"type": "text", "text": "What is in "},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBOR..."}},
        {"type": "text", "text": "?"}]

Text alone stays text, which every server takes. Where people look at a message, and in recordings,
the number of bytes and a hash stand for the data of a part: see `abridged`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from typing import Any, TypeAlias

from runtime_support.media import File, Image
from runtime_support.values import is_list, is_object

Part: TypeAlias = dict[str, Any]
Content: TypeAlias = str | list[Part]
Piece: TypeAlias = str | Image | File | Part

HASH_LENGTH = 16

_BASE64 = ";base64,"

_AUDIO_FORMATS = {"audio/wav": "wav", "audio/mpeg": "mp3"}
# By the type of a part: the name of its data, and the word for it.
_DATA = {
    "image_url": ("url", "image"),
    "file": ("file_data", "file"),
    "input_audio": ("data", "sound"),
}


def content_of(pieces: Iterable[Piece]) -> Content:
    """The content that these pieces make, in their order."""
    pieces = [piece for piece in pieces if piece != ""]
    if all(isinstance(piece, str) for piece in pieces):
        return "".join(map(str, pieces))
    parts: list[Part] = []
    for is_text, group in groupby(pieces, lambda piece: isinstance(piece, str)):
        together = list(group)
        parts += [_text_part("".join(map(str, together)))] if is_text else map(_part, together)
    return parts


def ending_with(content: Content, text: str) -> Content:
    """The content with a paragraph after it."""
    if not text:
        return content
    return f"{content}\n\n{text}" if isinstance(content, str) else [*content, _text_part(text)]


def text_of(content: Any) -> str:
    """The text in the content of a message, without its other parts."""
    if is_list(content):
        return "".join(part["text"] for part in content if part["type"] == "text")
    return content or ""


def described(content: Any) -> str:
    """The content in words: its text, and `[image, 70 bytes, sha256 ...]` for another part."""
    if not is_list(content):
        return content or ""
    return "\n".join(
        part["text"] if part["type"] == "text" else _description(_abridged_part(part))
        for part in content
    )


def counted(messages: Iterable[dict[str, Any]]) -> str:
    """How many pictures and files the messages have: `2 images, 1 file`."""
    contents = [message["content"] for message in messages]
    parts = [part["type"] for content in contents if is_list(content) for part in content]
    words = Counter(_DATA[type_][1] for type_ in parts if type_ in _DATA)
    return ", ".join(f"{n} {word}{'s' if n > 1 else ''}" for word, n in words.items())


def abridged(message: dict[str, Any]) -> dict[str, Any]:
    """The message, with the data of its parts stood for by their number of bytes and a hash."""
    content = message.get("content")
    if not is_list(content):
        return message
    return {**message, "content": [_abridged_part(part) for part in content]}


def _part(piece: Any) -> Part:
    """The part of a picture or a file, or one that is given as it is."""
    if is_object(piece):
        return piece
    if piece.url is not None:
        return {"type": "image_url", "image_url": {"url": piece.url}}
    if piece.type == "text/plain":
        return _text_part(f"{piece.name}:\n{piece.data.decode('utf-8-sig')}")
    import base64

    data = base64.b64encode(piece.data).decode("ascii")
    if piece.type in _AUDIO_FORMATS:
        audio = {"data": data, "format": _AUDIO_FORMATS[piece.type]}
        return {"type": "input_audio", "input_audio": audio}
    url = f"data:{piece.type};base64,{data}"
    if piece.type.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": url}}
    return {"type": "file", "file": {"filename": piece.name, "file_data": url}}


def _text_part(text: str) -> Part:
    return {"type": "text", "text": text}


def _abridged_part(part: Part) -> Part:
    kind = part["type"]
    if kind not in _DATA:
        return part
    name, _ = _DATA[kind]
    head, mark, data = part[kind][name].rpartition(_BASE64)
    if data.startswith("<") or (kind != "input_audio" and not mark):
        return part  # abridged already, or an address
    return {**part, kind: {**part[kind], name: f"{head}{mark}{_stand_in(data)}"}}


def _stand_in(data: str) -> str:
    import hashlib

    size = len(data) * 3 // 4 - data[-2:].count("=")
    return f"<{size} bytes, sha256 {hashlib.sha256(data.encode()).hexdigest()[:HASH_LENGTH]}>"


def _description(part: Part) -> str:
    name, word = _DATA[part["type"]]
    inner = part[part["type"]]
    data = inner[name].rpartition(_BASE64)[2].strip("<>")
    return f"[{', '.join(filter(None, (word, inner.get('filename'), data)))}]"
