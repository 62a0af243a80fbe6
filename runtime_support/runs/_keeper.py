"""Answering requests and calls from a journal, and keeping there what it does not have.

    with journaled("monday.journal"):       for a block of a program of one's own
        triage(mail)

A journal goes around prompts as a hook: outside of all others, as what it keeps needs none of them.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from runtime_support._context import Block, after_fork, change_here, context_here
from runtime_support._dates_decimals import read
from runtime_support._effects import Effect, Effects, drive, finish
from runtime_support._exchange import Reply, Replying, Request
from runtime_support._hooks import Hook, PromptRun, RequestedCall, load_part
from runtime_support._jsontext import to_json
from runtime_support._notes import note
from runtime_support._order import until_turn
from runtime_support._reader import sent_arguments
from runtime_support._redaction import redacted, shown
from runtime_support._results import Answer, ToolCall
from runtime_support._settings import Settings, settings_for
from runtime_support._spending import add_kept, note_kept
from runtime_support.errors import (
    ConfigError,
    ContractError,
    JournalError,
    PromptError,
    Refused,
    RunStopped,
    RunWaiting,
    ToolsUnsupported,
    TruncatedReply,
)
from runtime_support.providers import who_answers
from runtime_support.runs._closures import (
    NOTHING_CLOSED,
    ClosedValues,
    Match,
    closed_values,
    compared,
)
from runtime_support.runs._journal import Journal, KeptClosures, Kind, time_text, told_to
from runtime_support.runs._lines import (
    ByPath,
    Entry,
    key_of,
    key_of_data,
    outcome_data,
    reply_of,
    request_data,
    used_of,
)
from runtime_support.runs._places import Asked, Scope, root, scope_here, within

if TYPE_CHECKING:
    from datetime import datetime

    from runtime_support._approval import Decision, HeldWork
    from runtime_support._hooks import AnswerPrompt, MakeCall, SendRequest

MOST_SHOWN = 200


class JournalHook(Hook):
    """One call of `prompt` in a run that is journaled, or a call that a script makes in it."""

    def __init__(self, journal: Journal, prompt: PromptRun) -> None:
        self.journal = journal
        self.place = prompt.place
        self.functions = prompt.functions
        self.settings = prompt.settings
        self.asked: Asked | None = None
        self.steps = self.sent = 0

    def prompt(self, prompt: PromptRun, proceed: AnswerPrompt) -> Effects[Answer]:
        """The answer; where it has none, its first unusable reply is asked again on resuming."""
        try:
            return (yield from proceed(prompt))
        except PromptError as error:
            self._forget_unusable(error)
            raise

    def request(self, request: Request, proceed: SendRequest) -> Replying:
        """The reply that is kept, or the one that is sent for and then kept as a whole."""
        key = key_of(request)
        name, model = self._who
        asked = self.asked or (yield from self.begin(key, f"{name} {model}"))
        step, self.steps = self.steps, self.steps + 1
        entry = self.found(Kind.EXCHANGE, step)
        if entry is not None and entry["hash"] == key:
            self.sent = len(request.messages)
            reply = reply_of(entry, self.journal.path)
            note_kept(self.settings, reply.fallback or model, reply.usage)
            yield from _pieces_of(entry)
            return reply
        self.journal.check_whole()
        started = time.time()
        answer: Reply | ToolsUnsupported
        pieces: list[int] = []
        try:
            answer = yield from drive(proceed(request), partial(_counted, pieces))
        except ToolsUnsupported as refusal:
            answer = refusal
        used = [model, 0, 0]
        if isinstance(answer, Reply):
            used = [answer.fallback or model, *used_of(answer)]
        data = request_data(request)
        # What the entries before have is left out, unless the conversation has begun anew.
        told = self.sent if self.sent < len(request.messages) else 0
        data["messages"] = data["messages"][told:]
        self.sent = len(request.messages)
        entry = {
            "used": used,
            "hash": key,
            "who": f"{name} {model}",
            "place": None if self.place is None else self.place.text(),
            "time": round(started, 3),
            "ms": round((time.time() - started) * 1000, 1),
            "from": told,
            "request": data,
            **({"pieces": pieces} if pieces else {}),
            **outcome_data(answer),
        }
        yield Effect(partial(self.journal.put, asked, Kind.EXCHANGE, step, entry))
        if isinstance(answer, Reply):
            return answer
        raise answer

    def tool_call(self, call: RequestedCall, proceed: MakeCall) -> Effects[Any]:
        """What is kept of a call, or what it comes to now; so its decision, where it has to wait.

        A call of a server that is in doubt stops the run, unless it is pure.
        """
        form, held, is_program = call.kept_form, call.approval, call.kind == "program"
        if form is not None and (call.is_pure or not _can_be_kept(call)):
            return (yield from proceed(call))
        asked = self.asked or (yield from self.begin(key_of_data(call.asked)))
        step = f"t{call.number}"
        if form is not None:
            step += f"p{'_'.join(map(str, call.position))}"
        kept = KeptCall(self, step, call)
        if not is_program and not (held is not None and held.is_put_off):
            in_doubt = "stop" if call.kind == "server" and not call.is_pure else "call"
            told = kept.ended(in_doubt)
            made = told and (_call_of(told, call) if form is None else form.read(told))
            if made is not None:
                return made
        if held is not None:
            yield from self._decide(held, step)
        if form is None:
            call.contexts.append(partial(within, Scope(asked.inside(step))))
        if is_program or (held is not None and not held.is_allowed):
            return (yield from proceed(call))
        yield Effect(kept.begin)
        try:
            made = yield from proceed(call)
        except RunWaiting:
            yield Effect(kept.leave)
            raise
        outcome = {"args": made.args, "result": made.result, "error": made.error}
        outcome = outcome if form is None else form.written()
        # The duration as the script has seen it.
        yield Effect(partial(kept.end, {**outcome, "ms": made.duration}))
        return made

    def _decide(self, held: HeldWork, step: str) -> Effects[None]:
        if held.is_put_off and self.found(Kind.CALL, step) is not None:
            raise RunWaiting(held.shown, held.place)
        question = Approval(self, step, held)
        held.decision = question.decision()
        if held.decision is None:
            yield Effect(question.ask)
        if held.decision is None or held.is_put_off:
            yield from held.decide(question.answer)

    def _forget_unusable(self, error: PromptError) -> None:
        match error:
            case ContractError():
                unusable = len(error.attempts)
            case Refused() | TruncatedReply():
                unusable = 1
            case _:
                return
        if self.asked is not None and unusable:
            why = f"{type(error).__name__}: {redacted(error.message)}"
            step = max(0, self.steps - unusable)
            self.journal.put(self.asked, Kind.RETRY, step, {"why": why})

    @cached_property
    def _who(self) -> tuple[str, str]:
        return who_answers(self.settings)

    def begin(self, key: str, who: str = "") -> Effects[Asked]:
        """Finds the place of this call, by what is asked first and who answers."""
        journal = self.journal
        asked = scope_here().asked(key_of_data([key, who]))
        kept = journal.claim(asked, self._match)
        if kept is None and journal.has_equal(asked):
            yield from until_turn()
            kept = journal.claim_equal(asked, self._match)
        self.asked = kept or journal.begin(asked)
        return self.asked

    def _match(self, kept: KeptClosures) -> Match:
        """Whether the tools that were called had the values that they have now."""
        found = {compared(closed, self.closed(tool)) for tool, closed in kept.values()}
        if "other" in found:
            return "other"
        return "unsure" if "unsure" in found else "same"

    def closed(self, tool: str, *, with_mutable: bool = True) -> ClosedValues:
        """The values that a tool closes over now."""
        return closed_values(self.functions.get(tool), with_mutable=with_mutable)

    def found(self, kind: Kind, step: int | str) -> Entry | None:
        """What is kept of a step."""
        assert self.asked is not None
        return self.journal.find(self.asked, kind, step)

    def put(self, kind: Kind, step: int | str, entry: Entry) -> None:
        """Keeps a step; see `Journal.put`."""
        assert self.asked is not None
        self.journal.put(self.asked, kind, step, entry)


def _can_be_kept(call: RequestedCall) -> bool:
    """Whether a call in a program can be kept; one with a function or a table is called again."""
    if not call.sent and call.is_approved:
        raise JournalError(f"{call.name} waits for approval, and its arguments cannot be kept")
    return bool(call.sent)


def _is_decision(entry: Entry) -> bool:
    """Whether an entry says what was decided, with nothing that is not said of such a decision."""
    match entry:
        case {"decided": "yes" | "no" | "changed" as verdict, "reason": str(), "by": str()}:
            has_arguments = isinstance(entry.get("arguments"), str)
            is_begun = isinstance(entry.get("begun", 0.0), float | int)
            is_told = isinstance(entry.get("result"), str | None)
            return has_arguments == (verdict == "changed") and is_begun and is_told
        case _:
            return False


class KeptCall:
    """A call of a tool or in a program: how it ended before, or else its beginning and its end."""

    def __init__(self, keeper: JournalHook, step: str, call: RequestedCall) -> None:
        self._keeper = keeper
        self._step = step
        self._is_in_program = call.kept_form is not None
        self._call: Entry = {"tool": call.name, "sent": call.sent}
        self._name = call.name
        self._closed = NOTHING_CLOSED
        self._waits = call.approval is not None or call.is_approved
        if self._waits:
            self._call["approved"] = True
        self._began = 0.0

    def ended(self, in_doubt: str = "call") -> Entry | None:
        """What it came to; None when it is to be made. JournalError when that must not be.

        `in_doubt` is what happens, where the user does not say it, to a call that was begun and of
        which nobody knows how it ended: "call" or "stop".
        """
        entry = self._keeper.found(Kind.CALL, self._step)
        if entry is None or not self._is_same(entry):
            return None
        if "ms" not in entry and "left" in entry:
            return None
        if "ms" not in entry and (self._waits or "approved" in entry):
            return self._looked_after(entry)
        if "ms" not in entry:
            if told_to("SAFT_ON_INTERRUPTED_CALL", in_doubt) == "call":
                return None
            way = (
                "without SAFT_ON_INTERRUPTED_CALL=stop"
                if in_doubt == "call"
                else "with SAFT_ON_INTERRUPTED_CALL=call"
            )
            raise JournalError(
                f"{_named(entry)} started {time_text(entry['time'])}, and the run ended before "
                "it did: it may or may not have taken effect",
                hint=f"find out whether it did; {way} it is called again",
            )
        return entry

    def _looked_after(self, entry: Entry) -> Entry | None:
        """What a person has found out about a call that was approved, begun, and not ended."""
        found = self._keeper.found(Kind.APPROVAL, self._step)
        if found is not None and found.get("begun") == entry["time"]:
            if found.get("result") is None:  # it has not taken effect
                return None
            result = _as_json(found["result"]) if self._is_in_program else found["result"]
            return {**self._call, "result": result, "error": None, "ms": 0.0}
        journal = self._keeper.journal.path
        raise JournalError(
            f"{_named(entry)} was approved and begun {time_text(entry['time'])}, and the run ended "
            "before it did: it may or may not have taken effect",
            hint=f"find out whether it did; `saftc approve {journal} --retry` has it called again, "
            "and `--result RESULT` gives the model the result that it had",
        )

    def _is_same(self, entry: Entry) -> bool:
        """Whether the entry is of a call with these arguments."""
        return (entry.get("tool"), entry.get("sent")) == (self._call["tool"], self._call["sent"])

    def begin(self) -> None:
        """From now on it may have done something."""
        self._keeper.journal.check_whole()
        self._began = time.time()
        self._closed = self._keeper.closed(self._name)
        # Which values the call will change is not known yet.
        constant = self._keeper.closed(self._name, with_mutable=False)
        self._keep(**({"closed": constant} if any(constant) else {}))

    def leave(self) -> None:
        """Something inside of it waits for approval: it has not ended, and is begun anew."""
        self._keep(left=True)

    def end(self, outcome: Entry) -> None:
        """It is over, and not made again."""
        closed = self._closed.settled(self._keeper.closed(self._name))
        if any(closed):
            self._call["closed"] = closed
        self._keep(**outcome)

    def _keep(self, **more: Any) -> None:
        entry = {**self._call, "time": round(self._began, 3), **more}
        self._keeper.put(Kind.CALL, self._step, entry)


class Approval:
    """The question whether a call may be made, and the answer, both kept at the place of the call.

    They are for the call with its name, its arguments to the letter and what is shown of them.
    """

    def __init__(self, keeper: JournalHook, step: str, held: HeldWork) -> None:
        assert keeper.asked is not None
        self._keeper = keeper
        self._step = step
        self._held = held
        held.key = key_of_data([*keeper.asked, step, held.digest])
        self._question: Entry = {
            "asks": held.name,
            "kind": held.kind,
            "digest": held.digest,
            "sent": held.sent,
            "shown": held.shown,
        }

    def decision(self) -> Decision | None:
        """What was decided about this very call."""
        found = self._keeper.found(Kind.APPROVAL, self._step)
        if found is None or found["digest"] != self._held.digest:
            return None
        if not _is_decision(found):
            return None
        decision: Decision = load_part("approval").Decision(
            found["decided"], found["reason"], found["arguments"], found["by"]
        )
        problem = self._held.problem_with(decision)
        if problem is not None:
            note(f"{self._keeper.journal.path}: {problem}")
            return None
        return decision

    def ask(self) -> None:
        """Keeps that it waits, for whoever decides."""
        found = self._keeper.found(Kind.APPROVAL, self._step)
        if found is None or found["digest"] != self._held.digest or "decided" in found:
            schema = self._held.schema
            more = {"place": self._held.place, "time": round(time.time(), 3), "schema": schema}
            began = self._keeper.journal.began_by
            self._keeper.put(Kind.APPROVAL, self._step, {**self._question, **more, **began})

    def answer(self, decision: Decision) -> None:
        """Keeps what was decided, by whom and when."""
        self._keeper.put(Kind.APPROVAL, self._step, {**self._question, **decision_data(decision)})


def _as_json(text: str) -> str:
    """What somebody has written for the result of a call in a program: JSON, or else a text."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return to_json(text)
    return text


def decision_data(decision: Decision) -> Entry:
    """A decision as parts of an entry."""
    return {
        "decided": decision.verdict,
        "reason": decision.reason,
        "arguments": decision.arguments,
        "by": decision.by,
        "time": round(time.time(), 3),
    }


def _call_of(told: Entry, call: RequestedCall) -> ToolCall:
    """A call that has ended before; where it was approved, with the arguments that it then had."""
    is_whole = "approved" in told and "args" in told
    arguments = told["args"] if is_whole else sent_arguments(call.sent)
    return ToolCall(call.name, arguments, told["result"], told["error"], told["ms"])


def keep_moment(asked: str, moment: datetime) -> datetime:
    """The moment that was kept when the run asked this before, or this one, which then is."""
    def look(_: RequestedCall) -> Effects[ToolCall]:
        yield from ()
        return ToolCall(asked, None, to_json(moment), None, 0.0)

    hook = hook_for(PromptRun(settings_for()))
    if hook is None:
        return moment
    call = RequestedCall(asked, "{}", asked=[asked])
    found: datetime = read("datetime", json.loads(finish(hook.tool_call(call, look)).result))
    return found


def _named(entry: Entry) -> str:
    return f"{entry['tool']} {shown(entry['sent'], MOST_SHOWN)}"


def _counted(pieces: list[int], step: Effect | str) -> Effects[Any]:
    """What comes of a step of a reply; the lengths of its pieces are noted."""
    if isinstance(step, str):
        pieces.append(len(step))
    return (yield step)


def _pieces_of(entry: Entry) -> Generator[str]:
    """The pieces in which a reply came, when it was streamed."""
    text, start = entry.get("reply", {}).get("text", ""), 0
    for length in entry.get("pieces", ()):
        yield text[start : start + length]
        start += length


def hook_for(prompt: PromptRun) -> JournalHook | None:
    """What keeps this prompt, where the run has a journal."""
    journal = journal_here(prompt.settings)
    return None if journal is None else JournalHook(journal, prompt)


# Which journal


_of_process: ByPath[Journal] = ByPath()
# The root of the run of the process that is over: nothing more of it can be kept.
_over: Scope | None = None


def journal_here(settings: Settings) -> Journal | None:
    """The journal of the block around, or of the process; opened at its first use."""
    journal: Journal | None = context_here().journal
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
    return _of_process.at(path, lambda path: _begun(path, settings))


def _begun(path: str, settings: Settings) -> Journal:
    """The journal of the process; JournalError in what is left of a run that is over."""
    if _over is root():
        raise JournalError(f"the run is over, and nothing more is kept in {path}")
    return _opened(path, settings)


def _opened(path: str, settings: Settings, *, for_blocks: bool = False) -> Journal:
    """The journal; its cost counts for the budget of the run, and for those of blocks around it."""
    return count_kept(Journal(path), settings, for_blocks=for_blocks)


def count_kept(journal: Journal, settings: Settings, *, for_blocks: bool) -> Journal:
    """Counts what is kept in a journal for the budget of the run, and of the blocks around."""
    for model, paid in journal.paid.items():
        add_kept(settings, model, *paid, for_blocks=for_blocks)
    return journal


@contextmanager
def journaled(path: str | os.PathLike[str]) -> Generator[None]:
    """Keeps the block as a separate run in this file, or resumes it from there.

    It holds in this thread or task, and in those that get a copy of its context.
    """
    with keeping_in(_opened(os.fspath(path), settings_for(), for_blocks=True)):
        yield


@contextmanager
def keeping_in(journal: Journal) -> Generator[None]:
    """Keeps the block as a separate run in a journal, and closes that."""
    error: BaseException | None = None
    with Block(journal=journal, scope=Scope()):
        try:
            yield
        except BaseException as raised:
            error = raised
            raise
        finally:
            journal.close(_how_ended(error))


def close_journals(ended: str) -> None:
    """Closes the journals of the process, and notes in them how it has ended.

    What goes on in other threads opens none of them again. JournalError when something could not be
    kept, and nothing else has reported that.
    """
    global _over
    _over = root()
    for path in list(_of_process.open):
        journal = _of_process.take(path)
        if journal is not None:
            journal.close(ended)


def _how_ended(error: BaseException | None) -> str:
    match error:
        case None:
            return "ok"
        case RunWaiting():
            return "waiting"
        case KeyboardInterrupt() | GeneratorExit():
            return "interrupted"
        case _:
            return "failed"


@atexit.register
def _close_at_exit() -> None:
    try:
        close_journals(_how_ended(getattr(sys, "last_value", None)))
    except RunStopped as error:
        note(str(error))


# A forked process has not the run of its parent.
after_fork(lambda: change_here(journal=None))
