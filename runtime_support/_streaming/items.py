"""The elements of a streamed list: the partial values of a reply that are checked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from runtime_support._core.outputs.outputs import Output
from runtime_support._schema import model as m
from runtime_support._schema.checking import decode
from runtime_support._streaming.chunks import JSONScanner, PartReader, contradiction
from runtime_support._values.json_text import parse_unambiguous, to_json
from runtime_support.errors import CheckError

# In the place of a copy that differs, as the class gives each instance an id or a time of its own.
_ANOTHER: Any = object()


def list_items(output: Output, asked: m.Schema) -> ListItems | None:
    """Returns the elements of the output's list, or None if its value is not a list."""
    schema = m.resolved(asked)
    if not isinstance(schema, m.ListSchema) or isinstance(asked, m.RootSchema):
        return None
    return ListItems(output, schema.item)


class ListItems(PartReader):
    """The elements of a streamed list. An element is yielded when it is complete."""

    kind = list

    def __init__(self, output: Output, item: m.Schema) -> None:
        super().__init__(output)
        self._item = item
        self._keeps_digits = m.holds_decimals(item)
        # Copies of the given elements, as the receiver may change those.
        self._read: list[Any] = []
        self.begin()

    def begin(self) -> None:
        """Prepares for a new reply. An earlier, unusable reply has yielded no elements."""
        self._unfinished: list[str] = []  # the text of the unfinished element
        self._scanner = JSONScanner("[")

    def feed(self, text: str) -> Iterator[Any]:
        """Yields the elements that are complete and valid after this chunk."""
        for element in self._elements(text):
            try:
                item, same = self._decoded(element), self._decoded(element)
                self._read.append(same if _is_same(item, same) else _ANOTHER)
            except CheckError:  # whether it can be repaired depends on the whole reply
                self._scanner.is_over = True
                return
            yield self._give(item)

    def rest(self, value: list[Any]) -> Iterator[Any]:
        """Yields the remaining elements of the whole list.

        Raises ContractError if the list does not begin with the elements that were yielded.
        """
        count = len(self._given)
        if len(value) < count or not all(map(_is_same, self._read, value)):
            raise contradiction("elements")
        value[:count] = self._given
        for item in value[count:]:
            yield self._give(item)

    def _decoded(self, element: str) -> Any:
        read = parse_unambiguous(element, keeps_digits=self._keeps_digits)
        return decode(read, self._item, f"value[{len(self._given)}]")

    def _elements(self, text: str) -> Iterator[str]:
        """Yields the JSON text of each element that is newly completed."""
        scanner, begin = self._scanner, 0
        if scanner.is_over:
            return
        text = scanner.enter(text)
        for mark, end in scanner.feed(text):
            depth = len(scanner.open)
            if depth == 1 and mark == "[":
                begin = end
            elif (mark, depth) in ((",", 1), ("]", 0)):
                element = "".join(self._unfinished) + text[begin : end - 1]
                self._unfinished, begin = [], end
                if element.strip() or mark == ",":
                    yield element
        self._unfinished.append(text[begin:])


def _is_same(given: Any, whole: Any) -> bool:
    # User classes may compare by identity.
    return given is _ANOTHER or bool(given == whole) or to_json(given) == to_json(whole)
