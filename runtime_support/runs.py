"""What belongs to a whole run and not to one prompt: its budget, and its journal.

A journal keeps every exchange and every call of a tool in a file. After a kill, the same command
starts from the beginning, and the journal answers as far as the first run had come. It finds an
exchange by its place: the scope of the prompt, the prompt's first request and who answers, how
often the scope asked the same before, and the step of the conversation.
"""

from __future__ import annotations

from runtime_support._values.lazy import load_lazily

_HOMES = {
    "_core.scopes": "idempotency_key journal_scope",
    "_journal.hook": "journaled",
    "_journal.waiting_calls": "WaitingCall decide settle waiting_calls",
}
__getattr__, __dir__, __all__ = load_lazily(__name__, _HOMES)
