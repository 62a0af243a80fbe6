"""The wires as a server of the tests speaks them: a model that says what it is told to.

    server.responder = Speaker(RESPONSES, [Say(calls=(("double", {"number": 3}),)), Say("6")])

Like the real ones it refuses a conversation in which its own words, its thoughts, signatures and
ids, do not come back as they were. What it says next follows from the conversation alone, so that
one may fork, and a run that was killed may go on. Its replies are made by the packages' own models.

A wire is a module with the functions of `Spoken`; a further one stands in `WIRES`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tests.support.fake_server import Answer, status
from tests.support.wires import chat, messages, responses


@dataclass(frozen=True)
class Say:
    """What a model says next: a text, or calls of tools, each with its arguments."""

    text: str | None = None
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    is_cut: bool = False
    is_refusal: bool = False


class Spoken(Protocol):
    """A wire from the server's side; a document is a reply as JSON data."""

    @property
    def NAME(self) -> str: ...

    @property
    def PATH(self) -> str: ...

    def document(self, say: Any, number: int) -> dict[str, Any]:
        """The reply that says this, with thoughts and ids that no other number has."""
        ...

    def answer(self, document: dict[str, Any]) -> Answer:
        """The response with a reply."""
        ...

    def streamed(self, document: dict[str, Any]) -> Answer:
        """The same in pieces."""
        ...

    def heard(
        self, body: dict[str, Any], document: Callable[[int], dict[str, Any]]
    ) -> tuple[int, str]:
        """How many of its replies a conversation has, and what is wrong with what came back."""
        ...

    def opaque(self, document: dict[str, Any]) -> list[str]:
        """The signatures, ids and encrypted thoughts in a reply."""
        ...

    def effort(self, body: dict[str, Any]) -> str | None:
        """How much the model is to think, as the request says it."""
        ...


CHAT: Spoken = chat
RESPONSES: Spoken = responses
MESSAGES: Spoken = messages
WIRES: tuple[Spoken, ...] = (CHAT, RESPONSES, MESSAGES)


class Speaker:
    """Says these in order, in each conversation."""

    def __init__(self, wire: Spoken, says: Sequence[Say]) -> None:
        self.wire = wire
        self.says = list(says)
        # The bodies of the requests that it has answered.
        self.answered: list[dict[str, Any]] = []
        self._lock = threading.Lock()

    def document(self, number: int) -> dict[str, Any]:
        """The reply of this number, counted from 0."""
        return self.wire.document(self.says[number], number)

    def __call__(self, body: dict[str, Any]) -> Answer:
        number, wrong = self.wire.heard(body, self.document)
        if wrong or number >= len(self.says):
            return status(400, wrong or "the conversation is over")
        with self._lock:
            self.answered.append(body)
        document = self.document(number)
        return self.wire.streamed(document) if body.get("stream") else self.wire.answer(document)
