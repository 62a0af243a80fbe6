"""Images and files as parts of prompts, and the message contents that contain them.

    prompt("What is in {photo}?", photo=image("photo.png"))

    >>> content_of(["What is in ", Image("dot.png", "image/png", b"..."), "?"])
    ... # doctest: +NORMALIZE_WHITESPACE
    [{'type': 'text', 'text': 'What is in '},
     {'type': 'image_url', 'image_url': {'url': 'data:image/png;base64,Li4u'}},
     {'type': 'text', 'text': '?'}]

A file's type is determined from its content, not from its name. `image` and `file` read the file
immediately. Content without media stays a string, which every server accepts. In recordings, and in
messages shown to people, the size and a hash replace the data: see `abridge_data`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, ClassVar, TypeAlias

from runtime_support._language.arguments import as_text
from runtime_support._language.files import content, resolve_path, size_text
from runtime_support._values.kinds import brief, expected_error, is_list, is_object
from runtime_support.errors import CheckError, FileError

MOST_BYTES = 20 * 1024 * 1024
MOST_TEXT_BYTES = 1024 * 1024

# The first bytes of a file, and its type; the only image types are those that models accept. The
# expressions are compiled late: importing `re` takes as long as all of our own modules.
_SIGNS = (
    (rb"\x89PNG\r\n\x1a\n", "image/png"),
    (rb"\xff\xd8\xff", "image/jpeg"),
    (rb"GIF8[79]a", "image/gif"),
    (rb"(?s:RIFF....WEBP)", "image/webp"),
    (rb"%PDF-", "application/pdf"),
    (rb"(?s:RIFF....WAVE)", "audio/wav"),
    (rb"ID3|\xff[\xfb\xf3\xf2]", "audio/mpeg"),
)
HASH_LENGTH = 16

_BASE64 = ";base64,"

_AUDIO_FORMATS = {"audio/wav": "wav", "audio/mpeg": "mp3"}
# By type of a part: the field with its data, and a word for it in messages.
_DATA = {
    "image_url": ("url", "image"),
    "file": ("file_data", "file"),
    "input_audio": ("data", "sound"),
}

_URL = r"([A-Za-z][A-Za-z0-9+.-]*)://|(data):"
_DATA_URL = r"data:image/[\w.+-]+;base64,([A-Za-z0-9+/=\s]*)"


class _Media:
    """An attachment of a prompt: `data` of a MIME `type`, or a `url`."""

    __slots__ = ("data", "name", "type", "url")
    __saft_kind__: ClassVar[str]

    def __init__(self, name: str, type_: str, data: bytes, url: str | None = None) -> None:
        self.name = name
        self.type = type_
        self.data = data
        self.url = url

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._content() == self._content()

    def __hash__(self) -> int:
        return hash(self._content())

    def _content(self) -> tuple[Any, ...]:
        return (self.type, self.data, self.url)

    def __str__(self) -> str:
        about = self.url or f"{self.name}, {self.type}, {size_text(len(self.data))}"
        return f"{self.__saft_kind__}({about})"

    __repr__ = __str__


class Image(_Media):
    """An image for a prompt, or its URL; created by `image(...)`."""

    __slots__ = ()
    __saft_kind__ = "image"


class File(_Media):
    """A file for a prompt: a PDF, a sound, an image or UTF-8 text; created by `file(...)`."""

    __slots__ = ()
    __saft_kind__ = "file"


ContentPart: TypeAlias = dict[str, Any]
Content: TypeAlias = str | list[ContentPart]
Piece: TypeAlias = str | Image | File | ContentPart


def image(path: str) -> Image:
    """The picture at a path or an http URL, for a prompt: PNG, JPEG, GIF or WebP.

    A URL is sent to the model, not opened here. Raises a FileError if there is no such picture.
    """
    import re

    given = as_text("image(path)", path)
    address = re.match(_URL, given)
    if address is None:
        place, data = _read(given)
        return Image(os.path.basename(place), _image_type(data, place), data)
    if (address.group(1) or "").lower() in ("http", "https"):
        return Image(given, "", b"", given)
    inline = re.fullmatch(_DATA_URL, given)
    if inline is None:
        raise expected_error("image(path)", "a path or an http URL", given)
    data = _decoded(inline.group(1))
    return Image("data", _image_type(data, "the data URL"), data)


def file(path: str) -> File:
    """The file at a path, for a prompt: a PDF, a sound (WAV, MP3), a picture or UTF-8 text.

    It may have at most 20 MB, or 1 MB if it is text. Raises a FileError if there is no such file.
    """
    import re

    given = as_text("file(path)", path)
    if re.match(_URL, given):
        hint = "`image(url)` sends a picture by its URL"
        raise CheckError(f"file(path): expected a path, got {brief(given)}", hint=hint)
    place, data = _read(given)
    type_ = _type_of(data)
    if type_ is None:
        raise FileError(
            f"cannot send {place}: its type is not known",
            path=place,
            hint="models take PDF, PNG, JPEG, GIF, WebP, WAV, MP3 and UTF-8 text",
        )
    if type_ == "text/plain" and len(data) > MOST_TEXT_BYTES:
        raise _too_large(place, len(data), MOST_TEXT_BYTES, "of text ")
    return File(os.path.basename(place), type_, data)


def content_of(pieces: Iterable[Piece]) -> list[ContentPart]:
    """Returns the message content as a list of parts. Texts next to each other are one part."""
    from itertools import groupby

    parts: list[ContentPart] = []
    for is_text, group in groupby(filter(None, pieces), lambda piece: isinstance(piece, str)):
        together = list(group)
        parts += [_text_part("".join(map(str, together)))] if is_text else map(_part, together)
    return parts


def ending_with(content: Content, text: str) -> Content:
    """Returns the content with a paragraph added at its end."""
    if not text:
        return content
    return f"{content}\n\n{text}" if isinstance(content, str) else [*content, _text_part(text)]


def text_of(content: Any) -> str:
    """Returns the text in a message's content, without images and files."""
    if is_list(content):
        return "".join(part["text"] for part in content if part["type"] == "text")
    return content or ""


def describe_content(content: Any) -> str:
    """Returns the content as text, with `[image, 70 bytes, sha256 ...]` for images and files."""
    if not is_list(content):
        return content or ""
    return "\n".join(
        part["text"] if part["type"] == "text" else _description(_abridged_part(part))
        for part in content
    )


def count_attachments(messages: Iterable[dict[str, Any]]) -> str:
    """Returns the numbers of images and files in messages as text, as in `2 images, 1 file`."""
    from collections import Counter

    contents = [message["content"] for message in messages]
    parts = [part["type"] for content in contents if is_list(content) for part in content]
    words = Counter(_DATA[type_][1] for type_ in parts if type_ in _DATA)
    return ", ".join(f"{n} {word}{'s' if n > 1 else ''}" for word, n in words.items())


def abridge_data(message: dict[str, Any]) -> dict[str, Any]:
    """Returns the message, with the data of its images and files replaced by size and hash."""
    content = message.get("content")
    if not is_list(content):
        return message
    return {**message, "content": [_abridged_part(part) for part in content]}


def _read(path: str) -> tuple[str, bytes]:
    """Returns the resolved path and the content of a file.

    Raises FileError if the file cannot be read, is empty or is too large.
    """
    place = resolve_path(path)
    data = content(place, MOST_BYTES)
    if len(data) > MOST_BYTES:
        raise _too_large(place, max(os.stat(place).st_size, len(data)), MOST_BYTES, "")
    if not data:
        raise FileError(f"cannot send {place}: the file is empty", path=place)
    return place, data


def _too_large(place: str, size: int, limit: int, what: str) -> FileError:
    has, most = size_text(size), size_text(limit)
    if has == most:
        has, most = f"{size} bytes", f"{limit} bytes"
    return FileError(f"cannot send {place}: it has {has}, at most {most} {what}go", path=place)


def _image_type(data: bytes, place: str) -> str:
    type_ = _type_of(data)
    if type_ is not None and type_.startswith("image/"):
        return type_
    hint = None if type_ is None else f"it is of {type_}, which `file(path)` sends"
    problem = "it is not a PNG, JPEG, GIF or WebP picture"
    raise FileError(f"cannot send {place}: {problem}", path=place, hint=hint)


def _type_of(data: bytes) -> str | None:
    import re

    for sign, type_ in _SIGNS:
        if re.match(sign, data):
            return type_
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else "text/plain"


def _decoded(text: str) -> bytes:
    import base64
    import binascii

    try:
        data = base64.b64decode(text, validate=False)
    except binascii.Error as error:
        raise CheckError(f"image(path): the data URL is not base64: {error}") from None
    if len(data) > MOST_BYTES:
        raise _too_large("the data URL", len(data), MOST_BYTES, "")
    return data


def _part(piece: Any) -> ContentPart:
    """Returns the message part for an image or a file. A finished part is returned unchanged."""
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


def _text_part(text: str) -> ContentPart:
    return {"type": "text", "text": text}


def _abridged_part(part: ContentPart) -> ContentPart:
    kind = part["type"]
    if kind not in _DATA:
        return part
    name, _ = _DATA[kind]
    head, mark, data = part[kind][name].rpartition(_BASE64)
    if data.startswith("<") or (kind != "input_audio" and not mark):
        return part  # abridged before, or a URL
    return {**part, kind: {**part[kind], name: f"{head}{mark}{_stand_in(data)}"}}


def _stand_in(data: str) -> str:
    import hashlib

    size = len(data) * 3 // 4 - data[-2:].count("=")
    return f"<{size} bytes, sha256 {hashlib.sha256(data.encode()).hexdigest()[:HASH_LENGTH]}>"


def _description(part: ContentPart) -> str:
    name, word = _DATA[part["type"]]
    inner = part[part["type"]]
    data = inner[name].rpartition(_BASE64)[2].strip("<>")
    return f"[{', '.join(filter(None, (word, inner.get('filename'), data)))}]"
