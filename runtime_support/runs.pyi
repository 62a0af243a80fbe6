"""The public names of journals, for checkers and editors."""

from runtime_support._core.scopes import idempotency_key as idempotency_key
from runtime_support._core.scopes import journal_scope as journal_scope
from runtime_support._journal.hook import journaled as journaled
from runtime_support._journal.waiting_calls import WaitingCall as WaitingCall
from runtime_support._journal.waiting_calls import decide as decide
from runtime_support._journal.waiting_calls import settle as settle
from runtime_support._journal.waiting_calls import waiting_calls as waiting_calls
