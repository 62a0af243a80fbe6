"""What belongs to a whole run and not to one prompt: its budget, and its journal.

A journal keeps every exchange and every call of a tool in a file. After a kill, the same command
starts from the beginning, and the journal answers as far as the first run had come. It finds an
exchange by its place: the scope of the prompt, the prompt's first request and who answers, how
often the scope asked the same before, and the step of the conversation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime_support._values.lazy import load_lazily

if TYPE_CHECKING:
    from runtime_support._core.scopes import idempotency_key, journal_scope
    from runtime_support._journal.hook import journaled
    from runtime_support._journal.waiting_calls import WaitingCall, decide, settle, waiting_calls
else:
    _HOMES = {
        "_keeper": "journaled",
        "_places": "idempotency_key journal_scope",
        "_questions": "WaitingCall decide settle waiting_calls",
    }
    __getattr__, __dir__ = load_lazily(__name__, __name__, _HOMES)

__all__ = [
    "WaitingCall",
    "decide",
    "idempotency_key",
    "journal_scope",
    "journaled",
    "settle",
    "waiting_calls",
]
