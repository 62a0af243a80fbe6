"""Writes the source map of a compiled module, in the format Source Map v3.

The map is JSON (https://tc39.es/ecma426/). `mappings` has segments for each line of the output. A
segment has four numbers: the column in the output, the index of the source, and the line and column
in the source. All count from 0. Each number is written in base64 VLQ, as the difference to the same
number in the previous segment. Columns count UTF-16 units, as the standard says. `x_digest` is the
SHA-256 of the module: the runtime ignores a map with another digest.
"""

import json
from hashlib import sha256

from saftc.codegen.module import Generated
from saftc.source import Source

_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def render_source_map(source: Source, generated: Generated, file: str) -> str:
    """Returns the source map of a module that was generated from `source`.

    `file` is the module's name.
    """
    name = source.name.replace("\\", "/").rsplit("/", 1)[-1]
    data = {
        "version": 3,
        "file": file,
        "sources": [name],
        "names": [],
        "mappings": _mappings(source, generated),
        "x_digest": sha256(generated.text.encode()).hexdigest(),
    }
    return json.dumps(data) + "\n"


def _mappings(source: Source, generated: Generated) -> str:
    text = generated.text
    lines = text.split("\n")
    segments: dict[int, dict[int, tuple[int, int]]] = {}
    for mapping in generated.origins.map(text):
        line, column = source.position(mapping.span.start)
        written = lines[mapping.line - 1].encode()[: mapping.column].decode()
        read = source.line_text(line)[: column - 1]
        # A statement and its first expression start at the same place: the expression counts.
        segments.setdefault(mapping.line - 1, {})[_units(written)] = (line - 1, _units(read))
    result: list[str] = []
    before = [0, 0, 0]
    for number in range(len(lines)):
        column_before = 0
        parts: list[str] = []
        for column, (line, source_column) in sorted(segments.get(number, {}).items()):
            values = (column - column_before, 0, line - before[1], source_column - before[2])
            parts.append("".join(map(_vlq, values)))
            column_before = column
            before[1:] = [line, source_column]
        result.append(",".join(parts))
    return ";".join(result)


def _units(text: str) -> int:
    """Returns the length of a text in UTF-16 units."""
    return len(text.encode("utf-16-le")) // 2


def _vlq(value: int) -> str:
    """Encodes a number in base64 VLQ. Each digit has five bits, and the lowest digit comes first.

    The lowest bit of the number is the sign.
    """
    rest = (-value << 1) | 1 if value < 0 else value << 1
    digits: list[str] = []
    while True:
        digit, rest = rest & 31, rest >> 5
        digits.append(_BASE64[digit | 32 if rest else digit])
        if not rest:
            return "".join(digits)
