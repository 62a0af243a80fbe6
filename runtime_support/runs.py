"""Features of a whole run: its journal, with approvals, and names for the parts of a run.

A journal stores every request, reply and tool call in a file. After a crash, the same command
starts from the beginning, and the journal replays everything that the first run had recorded. It
finds a reply by the scope of the prompt, by the prompt's first request and the provider, by how
often the scope has sent the same request before, and by the step of the conversation.
"""

from __future__ import annotations

from runtime_support._values.lazy import load_lazily

_HOMES = {
    "_core.scopes": "idempotency_key journal_scope",
    "_journal.hook": "journaled",
    "_journal.waiting_calls": "WaitingCall decide settle waiting_calls",
}
__getattr__, __dir__, __all__ = load_lazily(__name__, _HOMES)
