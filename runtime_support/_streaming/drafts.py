"""Drafts: the partial value of a reply, after each chunk that changes it.

    drafts = Drafts(output)                     for any output with one value
    drafts.begin()                              starts a reply
    drafts.feed('{"title": "A f')               {"title": "A f", "tags": None}
    drafts.feed('ox", "tags": ["animals", "')   {"title": "A fox", "tags": ["animals"]}
    drafts.rest(Post("A fox", ["animals"]))     {"title": "A fox", "tags": ["animals"]}

In a draft, a record is a dict of its fields. A missing part is None. An unfinished text has the
characters that have arrived, and an unfinished list has its finished items. Other values appear
when they are finished. Finished parts are checked. The last draft is the whole value. After a
mistake, a reply yields no more drafts until its whole value is known. A draft may contradict an
earlier draft, because the model may be asked again after a reply with mistakes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from runtime_support._core.outputs.outputs import Output
from runtime_support._schema import model as m
from runtime_support._schema.checking import decode
from runtime_support._schema.reading import schema_of
from runtime_support._streaming.chunks import JSONScanner, TextPieces
from runtime_support._values.dates import Digits
from runtime_support._values.kinds import is_list, is_object, is_record
from runtime_support.errors import CheckError

_TEXT = m.ScalarSchema("string")
_ANY = m.AnySchema()
_NOTHING: Any = object()


class Drafts:
    """Yields the drafts of an output's value."""

    kind = object

    def __init__(self, output: Output) -> None:
        self.output = output
        contract = output.contract
        self._schema = _TEXT if contract is None else contract.schema
        self._keeps_digits = contract is not None and contract.keeps_digits
        # The pieces get a separate output, because the model may still be asked again after drafts.
        self._pieces = TextPieces(Output()) if contract is None else None
        self.begin()

    def begin(self) -> None:
        """Prepares for a new reply, whose drafts replace the drafts of earlier replies."""
        self._text = ""
        self._given: Any = _NOTHING
        self._scanner = JSONScanner()
        if self._pieces is not None:
            self._pieces.begin()

    def feed(self, text: str) -> Iterator[Any]:
        """Yields a draft if this chunk changes it."""
        if self._pieces is not None:
            for piece in self._pieces.feed(text):
                self._text = self._given = self._text + piece
                yield self._text
            return
        draft = self._read(text)
        if draft is not _NOTHING and draft != self._given:
            self._given = draft
            yield draft

    def before_calls(self, text: str) -> Iterator[Any]:
        """Yields nothing: text before tool calls is not part of the value."""
        return iter(())

    def rest(self, value: Any) -> Iterator[Any]:
        """Yields the whole value as a draft, unless the last draft was equal to it."""
        whole = _whole(value, self._schema)
        if whole != self._given:
            yield whole

    def _read(self, text: str) -> Any:
        """Returns the draft after this chunk, or `_NOTHING` if there is no draft now."""
        scanner = self._scanner
        if scanner.is_over:
            return _NOTHING
        text = scanner.enter(text)
        self._text += text
        for _ in scanner.feed(text):
            pass
        if scanner.is_over or not scanner.open:  # `rest` yields a complete value
            return _NOTHING
        try:
            return self._part(self._parsed(), self._schema, len(scanner.open))
        except (ValueError, CheckError):  # whether it can be repaired depends on the whole reply
            scanner.is_over = True
            return _NOTHING

    def _parsed(self) -> Any:
        import jiter

        value = jiter.from_json(
            self._text.encode(),
            allow_inf_nan=False,
            catch_duplicate_keys=True,
            partial_mode="trailing-strings",
            float_mode="lossless-float" if self._keeps_digits else "float",
        )
        return _with_digits(value) if self._keeps_digits else value

    def _part(self, value: Any, schema: m.Schema, levels: int) -> Any:
        """Returns the draft of an unfinished value.

        `levels` is the number of nested lists and objects in the value that are not closed yet.
        """
        schema = _of_value(schema)
        if levels == 0:
            return value if isinstance(value, str) and schema in (_TEXT, _ANY) else None
        if is_list(value):
            if not isinstance(schema, m.ListSchema | m.AnySchema):
                return None
            item = schema.item if isinstance(schema, m.ListSchema) else _ANY
            return [decode(one, item) for one in (value[:-1] if self._is_cut(levels) else value)]
        match schema:
            case m.ObjectSchema(fields=fields):
                known = {one.name: one.schema for one in fields}
                return dict.fromkeys(known) | dict(self._members(value, known, levels))
            case m.AnySchema():
                return dict(self._members(value, dict.fromkeys(value, _ANY), levels))
            case m.MapSchema():
                finished = list(value.items())[: -1 if self._is_cut(levels) else None]
                return decode(dict(finished), replace(schema, constraints=None))
            case _:
                return None

    def _members(
        self, value: dict[str, Any], known: dict[str, m.Schema], levels: int
    ) -> Iterator[tuple[str, Any]]:
        last = next(reversed(value), None) if self._is_cut(levels) else None
        for name, one in value.items():
            if name not in known:
                raise CheckError(f"unexpected field {name}")
            if name == last:
                yield name, self._part(one, known[name], levels - 1)
            else:
                yield name, _whole(decode(one, known[name]), known[name])

    def _is_cut(self, levels: int) -> bool:
        """True if the last item of an unfinished list or object is unfinished, too.

        `levels` counts the list or object and the unclosed lists and objects in it.
        """
        if self._scanner.is_in_string:
            return levels > 1 or not self._scanner.is_in_key
        return levels > 1 or self._text[-1:].isdigit()


def of_value(value: Any) -> Iterator[Any]:
    """Yields the only draft of a value that is already known."""
    yield _whole(value, schema_of(type(value)) if is_record(value) else _ANY)


def _whole(value: Any, schema: m.Schema) -> Any:
    """Returns a finished value as a draft: a record as a dict, a root model as its `root`."""
    schema = _of_value(schema)
    if getattr(value.__class__, "__pydantic_root_model__", False):
        value = value.root
    if value is None or not isinstance(schema, m.ObjectSchema):
        return value
    if is_object(value):
        return {one.name: _whole(value.get(one.name), one.schema) for one in schema.fields}
    # The fields of pydantic's models have the names of their aliases.
    own = getattr(value.__class__, "model_fields", None) or [f.python_name for f in schema.fields]
    return {
        one.name: _whole(getattr(value, name), one.schema)
        for one, name in zip(schema.fields, own, strict=True)
    }


def _of_value(schema: m.Schema) -> m.Schema:
    """Returns the non-nil member of an optional type, or else the schema, resolved."""
    members = [one for one in m.members_of(schema) if not m.admits_nil(one)]
    return members[0] if len(members) == 1 else m.resolved(schema)


def _with_digits(value: Any) -> Any:
    """Replaces floats in JSON data by `Digits`, and returns the new data."""
    if is_object(value):
        return {name: _with_digits(one) for name, one in value.items()}
    if is_list(value):
        return list(map(_with_digits, value))
    if isinstance(value, bool | int | str) or value is None:
        return value
    return Digits(str(value))
