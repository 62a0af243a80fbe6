"""Answering the steps of a conversation from a journal, and keeping there what it does not have.

keeper = Keeper(journal, who, model, place)
keeper.exchange(request, send)       from the journal, or sent and kept; its pieces, as they come
keeper.call(wanted, call)            the same for a call of a tool
with keeper.program() as keep:       the same for the calls of a program

with journaled("monday.journal"):    for a block of a program of one's own
    triage(mail)
"""

from __future__ import annotations

import atexit
import json
import os
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

from runtime_support._config import Settings, settings_for
from runtime_support._exchange import Reply, Replying, Request, ToolRequest
from runtime_support._jsontext import to_json
from runtime_support._positions import Place
from runtime_support._redaction import redacted, shown
from runtime_support._results import ToolCall
from runtime_support._runs.journal import Journal, time_text
from runtime_support._runs.lines import (
    ByPath,
    Entry,
    data_of,
    key_of,
    key_of_data,
    recorded,
    reply_of,
    used_of,
)
from runtime_support._runs.places import Asked, Scope, scope_here, within
from runtime_support._runs.spending import spending_here
from runtime_support._tracing import note
from runtime_support._turns import await_turn
from runtime_support._waits import Wait, Waits
from runtime_support.errors import (
    CheckError,
    ConfigError,
    ContractError,
    JournalError,
    PromptError,
    Refused,
    RunStopped,
    ToolsUnsupported,
    TruncatedReply,
)

MOST_SHOWN = 200


class Keeper:
    """One call of `prompt` in a run that is journaled."""

    def __init__(self, journal: Journal, who: str, model: str, place: Place | None) -> None:
        self.journal = journal
        self.who = who
        self.model = model
        self.place = place
        self.asked: Asked | None = None
        self.other: Asked | None = None
        self.steps = self.calls = 0
        self.sent = 0

    def exchange(self, request: Request, send: Callable[[Request], Replying]) -> Replying:
        """The reply that is kept, or the one that is sent for and then kept as a whole."""
        key = key_of(request)
        asked = self.asked or self.begin(key)
        step, self.steps = self.steps, self.steps + 1
        entry = self.found(step)
        if entry is not None and entry.get("hash") == key:
            self.sent = len(request.messages)
            spending_here().note_kept()
            return reply_of(entry, self.journal.path)
        self.journal.lines.check_whole()
        started = time.time()
        answer: Reply | ToolsUnsupported
        try:
            answer = yield from send(request)
        except ToolsUnsupported as refusal:
            answer = refusal
        tokens = used_of(answer) if isinstance(answer, Reply) else [0, 0]
        data = recorded(request)
        # What the entries before have is left out, unless the conversation has begun anew.
        told = self.sent if self.sent < len(request.messages) else 0
        data["messages"] = data["messages"][told:]
        self.sent = len(request.messages)
        entry = {
            "used": [self.model, *tokens],
            "hash": key,
            "who": self.who,
            "place": None if self.place is None else self.place.text(),
            "time": round(started, 3),
            "ms": round((time.time() - started) * 1000, 1),
            "from": told,
            "request": _readable(data),
            **data_of(answer),
        }
        yield Wait(partial(self.journal.put, asked, step, entry))
        if isinstance(answer, Reply):
            return answer
        raise answer

    def call(self, wanted: ToolRequest, call: Waits[ToolCall]) -> Waits[ToolCall]:
        """The outcome of a call of a tool that is kept, or the one that it has now."""
        asked, step = self._next_call()
        kept = _KeptCall(self, step, wanted.name, wanted.arguments)
        told = kept.ended()
        if told is not None:
            return ToolCall(wanted.name, told["args"], told["result"], told["error"], told["ms"])
        yield Wait(kept.begin)
        with within(Scope(asked.inside(step))):
            made = yield from call
        outcome = {"args": made.args, "result": made.result, "error": made.error}
        yield Wait(partial(kept.end, outcome))
        return made

    @contextmanager
    def program(self) -> Generator[Callable[..., _KeptCall | None]]:
        """Has the block run a program; gives what is kept of a call in it, by its position."""
        asked, step = self._next_call()

        def keep(
            position: tuple[int, ...], name: str, arguments: dict[str, Any]
        ) -> _KeptCall | None:
            try:
                sent = to_json(arguments)
            except CheckError:  # a function, a table: it is called again
                return None
            return _KeptCall(self, f"{step}p{'_'.join(map(str, position))}", name, sent)

        with within(Scope(asked.inside(step))):
            yield keep

    def _next_call(self) -> tuple[Asked, str]:
        assert self.asked is not None
        self.calls += 1
        return self.asked, f"t{self.calls}"

    def failed(self, error: PromptError) -> None:
        """Has the prompt be asked again from its first unusable reply when the run goes on."""
        match error:
            case ContractError():
                unusable = len(error.attempts)
            case Refused() | TruncatedReply():
                unusable = 1
            case _:
                return
        if self.asked is not None and unusable:
            why = f"{type(error).__name__}: {redacted(error.message)}"
            self.journal.forget(self.asked, max(0, self.steps - unusable), why)

    def begin(self, key: str) -> Asked:
        """Finds the place of this call, by what is asked first."""
        journal = self.journal
        self.asked = asked = scope_here().asked(key_of_data([key, self.who]))
        if not journal.claim(asked) and journal.has_like(asked):
            await_turn()
            self.other = journal.claim_like(asked)
        return asked

    def found(self, step: int | str) -> Entry | None:
        """What is kept of a step."""
        assert self.asked is not None
        entry = self.journal.find(self.asked, step)
        if entry is None and self.other is not None:
            entry = self.journal.find(self.other, step)
            if entry is not None:  # from now on it is here that it is looked for
                copy = {name: part for name, part in entry.items() if name not in ("at", "used")}
                self.put(step, {"instead": entry["at"], **copy})
        return entry

    def put(self, step: int | str, entry: Entry) -> None:
        """Keeps a step."""
        assert self.asked is not None
        self.journal.put(self.asked, step, entry)


class _KeptCall:
    """A call of a tool or in a program: how it ended before, or else its beginning and its end."""

    def __init__(self, keeper: Keeper, step: str, name: str, sent: str) -> None:
        self._keeper = keeper
        self._step = step
        self._call: Entry = {"tool": name, "sent": sent}
        self._began = 0.0

    def ended(self) -> Entry | None:
        """What it came to; None when it is to be made. JournalError when that must not be."""
        entry = self._keeper.found(self._step)
        if entry is None or any(entry.get(name) != part for name, part in self._call.items()):
            return None
        if "ms" in entry:
            return entry
        wanted = os.environ.get("SAFT_IN_DOUBT") or "call"
        if wanted not in ("call", "stop"):
            raise ConfigError(f"SAFT_IN_DOUBT: expected call or stop, got {wanted!r}")
        if wanted == "call":
            return None
        name, sent = entry["tool"], shown(entry["sent"], MOST_SHOWN)
        raise JournalError(
            f"{name} {sent} was begun {time_text(entry['time'])}, and the run ended before it did: "
            "nobody knows what it has done",
            hint="look for that; without SAFT_IN_DOUBT=stop it is called again",
        )

    def begin(self) -> None:
        """From now on it may have done something."""
        self._keeper.journal.lines.check_whole()
        self._began = time.time()
        self._keeper.put(self._step, {**self._call, "time": round(self._began, 3)})

    def end(self, outcome: Entry) -> None:
        """It is over, and not made again."""
        seconds = time.time() - self._began
        ended = {"time": round(self._began, 3), "ms": round(seconds * 1000, 1), **outcome}
        self._keeper.put(self._step, {**self._call, **ended})


def _readable(data: Entry) -> Entry:
    """A request without secrets: it is kept to be read, and not to be sent."""
    text = json.dumps(data, ensure_ascii=False)
    shown = redacted(text)
    return data if shown == text else json.loads(shown)


def keeper_for(settings: Settings, place: Place | None) -> Keeper | None:
    """What keeps a prompt of this run; None when the run has no journal."""
    journal = journal_here(settings)
    if journal is None:
        return None
    from runtime_support.providers import who_answers

    name, model = who_answers(settings)
    return Keeper(journal, f"{name} {model}", model, place)


@contextmanager
def plan_kept(program: Any) -> Generator[Callable[..., _KeptCall | None] | None]:
    """Has the block run a plan; gives the same as for a program, None without a journal."""
    journal = journal_here(settings_for())
    if journal is None:
        yield None
        return
    keeper = Keeper(journal, "", "", None)
    keeper.begin(key_of_data(program))
    with keeper.program() as keep:
        yield keep


# Which journal


_of_block: ContextVar[Journal | None] = ContextVar("saft_journal", default=None)
_of_process: ByPath[Journal] = ByPath()


def journal_here(settings: Settings) -> Journal | None:
    """The journal of the block around, or of the process; opened at its first use."""
    journal = _of_block.get()
    if journal is not None:
        return journal
    path = os.environ.get("SAFT_JOURNAL")
    if not path:
        return None
    if os.environ.get("SAFT_RECORD") or os.environ.get("SAFT_REPLAY"):
        raise ConfigError(
            "a run has a journal, or is recorded or replayed: not both",
            setting="journal",
            hint="`--replay` also reads journals",
        )
    return _of_process.at(path, lambda path: _opened(path, settings))


def _opened(path: str, settings: Settings, part_of: str | None = None) -> Journal:
    """The journal; what it has cost counts for the budget of the run."""
    journal = Journal(path, part_of)
    for model, paid in journal.paid.items():
        spending_here().add_kept(settings, model, *paid)
    return journal


@contextmanager
def journaled(path: str) -> Generator[None]:
    """Has the block be a run of its own that is kept in this file, or goes on from there.

    It holds in this thread or task, and in those that get a copy of its context.
    """
    with journaled_part(path, None):
        yield


@contextmanager
def journaled_part(path: str, part_of: str | None) -> Generator[None]:
    """The same for a part of the job of a script; see `Journal`."""
    path = os.fspath(path)
    journal = _opened(path, settings_for(), part_of)
    token = _of_block.set(journal)
    ended = "failed"
    try:
        with within(Scope()):
            yield
        ended = "ok"
    finally:
        _of_block.reset(token)
        journal.close(ended)


def close_journals(ended: str) -> None:
    """Closes the journals of the process: how it has ended is told there."""
    for path in list(_of_process.open):
        journal = _of_process.take(path)
        if journal is not None:
            journal.close(ended)


@atexit.register
def _close_at_exit() -> None:
    try:
        close_journals("failed" if getattr(sys, "last_value", None) is not None else "ok")
    except RunStopped as error:
        note(str(error))


if hasattr(os, "register_at_fork"):
    # A forked process has not the run of its parent.
    os.register_at_fork(after_in_child=lambda: _of_block.set(None))
