"""What pygls leaves open between a client and the server: every request is answered, nothing is
kept of what is over, and offsets become places and back.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams, JsonRpcInvalidRequest
from pygls.protocol import LanguageServerProtocol, default_converter
from pygls.workspace import PositionCodec

from saftc.source import Source, Span


def strict_converter() -> Any:
    """What makes objects of JSON, as pygls has it, but for numbers that are none of the protocol's.

    It would make 1 of `1.5`, of `"1"` and of `true`.
    """
    converter: Any = default_converter()
    # Not for what is an integer in Python alone: bools and enumerations.
    converter.register_structure_hook_func(_is_integer, _integer)
    return converter


def _is_integer(kind: object) -> bool:
    return kind is int


def _integer(value: Any, _kind: object) -> int:
    is_whole = isinstance(value, float) and value.is_integer()
    if isinstance(value, bool) or not (is_whole or isinstance(value, int)):
        raise ValueError(f"expected an integer, got {json.dumps(value)}")
    return int(value)


class Answering(LanguageServerProtocol):
    """The protocol of one connection; `handled` is called before each message that comes in."""

    handled: Callable[[], None] | None = None

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Each object as it is: which of them is the message is known when all are read."""
        return data

    def handle_message(self, message: Any) -> None:
        """Has a message answered, or answers why it cannot be."""
        if self.handled is not None:
            self.handled()
        if not isinstance(message, dict):
            self.refuse(None, JsonRpcInvalidRequest("a message is an object"))
            return
        data = cast("dict[str, Any]", message)
        is_request = "id" in data and "method" in data
        try:
            super().handle_message(self._structured(data))
        except JsonRpcException as problem:
            if not is_request:
                raise
            self.refuse(data["id"], problem)

    def _structured(self, data: dict[str, Any]) -> Any:
        """The message that an object stands for.

        Raises:
            JsonRpcException: It cannot be answered.
        """
        method = data.get("method")
        if data.get("jsonrpc") != self.VERSION:
            raise JsonRpcInvalidRequest('`jsonrpc` has to be "2.0"')
        if "method" not in data:
            return super().structure_message(data)
        if not isinstance(method, str):
            raise JsonRpcInvalidRequest("`method` has to be a string")
        if self._shutdown and method != lsp.EXIT:
            raise JsonRpcInvalidRequest("the server was shut down")
        try:
            # Those that take none may leave them out.
            return super().structure_message({"params": None, **data})
        except JsonRpcException as problem:
            details = _said(problem.__cause__)
            said = f"these are not the parameters of {method}{details}"
            raise JsonRpcInvalidParams(said) from None

    def refuse(self, id_: Any, reason: JsonRpcException) -> None:
        """Answers a request by why it is not done; without an id, whoever has sent the message."""
        error = {"code": reason.code, "message": reason.message}
        self._send_data({"jsonrpc": self.VERSION, "id": id_, "error": error})

    def _execute_handler(self, msg_id: Any, *args: Any, **kwargs: Any) -> None:
        super()._execute_handler(msg_id, *args, **kwargs)
        # pygls itself forgets only what was asked for; notifications would be kept for ever.
        future = self._request_futures.get(msg_id)
        if future is not None:
            future.add_done_callback(lambda _: self._request_futures.pop(msg_id, None))


def _said(problem: BaseException | None) -> str:
    """What was wrong, as far as that is said in words of the protocol."""
    while isinstance(problem, BaseExceptionGroup):
        problem = cast("BaseExceptionGroup[BaseException]", problem).exceptions[0]
    match problem:
        case KeyError():
            return f": {problem} is missing"
        case ValueError():
            return f": {problem}"
        case _:
            return ""


@dataclass(frozen=True, slots=True)
class Lines:
    """The places of one text.

    The protocol counts lines from 0, and in them units of the encoding that client and server agree
    on. (pygls' own way back puts what is behind the end of a line one before it.)
    """

    source: Source
    codec: PositionCodec

    def position(self, offset: int) -> lsp.Position:
        """The place of an offset."""
        line, column = self.source.position(offset)
        before = self.source.line_text(line)[: column - 1]
        return lsp.Position(line - 1, self.codec.client_num_units(before))

    def range(self, span: Span) -> lsp.Range:
        """The places of a span."""
        return lsp.Range(self.position(span.start), self.position(span.end))

    def length(self, span: Span) -> int:
        """The units of a span."""
        return self.codec.client_num_units(self.source.at(span))

    def offset(self, position: lsp.Position) -> int:
        """The offset of a place; of one behind the end of its line, the line's end."""
        line = position.line + 1
        start = self.source.line_start(line)
        if start >= len(self.source.text):
            return len(self.source.text)
        text = self.source.line_text(line)
        if text.isascii():
            return start + min(position.character, len(text))
        units = 0
        for index, character in enumerate(text):
            if units >= position.character:
                return start + index
            units += self.codec.client_num_units(character)
        return start + len(text)
