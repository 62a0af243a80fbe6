"""Replays requests and calls from a journal, and records those that are not in it.

    with journaled("monday.journal"):       for a block of your own program
        triage(mail)

The journal's hook is the outermost hook of a prompt, so a replay needs no other hook.
"""

from __future__ import annotations

import atexit
import json
import os
import sys
import time
from collections.abc import Callable, Generator
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from runtime_support._core.hooks import Hook, PromptRun, RequestedCall, load_part
from runtime_support._core.messages import Reply, ReplyStream, Request
from runtime_support._core.notes import note
from runtime_support._core.reader.replies import sent_arguments
from runtime_support._core.redaction import redacted, shown
from runtime_support._core.results import Answer, ToolCall
from runtime_support._core.scopes import PromptKey, RunScope, current_scope, root, within
from runtime_support._core.settings import Settings, settings_for
from runtime_support._core.spending import current_meters, note_recorded
from runtime_support._core.tasks.loops import finish_in_thread
from runtime_support._core.tasks.turns import wait_for_turn
from runtime_support._core.tasks.waits import Steps, Wait, drive, finish
from runtime_support._journal.closures import (
    NOTHING_CLOSED,
    ClosedValues,
    Match,
    closed_values,
    compared,
)
from runtime_support._journal.journal import (
    Journal,
    KeptClosures,
    RowKind,
    recovery_setting,
    time_text,
)
from runtime_support._journal.json_lines import (
    Entry,
    OpenFiles,
    key_of,
    key_of_data,
    outcome_data,
    reply_of,
    request_data,
    used_of,
)
from runtime_support._values.context import Block, after_fork, current_context, set_context
from runtime_support._values.dates import read
from runtime_support._values.json_text import to_json
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
from runtime_support.providers import provider_and_model

if TYPE_CHECKING:
    from datetime import datetime
    from types import TracebackType

    from runtime_support._core.hooks import AnswerPrompt, MakeCall, SendRequest
    from runtime_support._journal.approval import Decision, PendingApproval

    Raised: TypeAlias = tuple[
        type[BaseException] | None, BaseException | None, TracebackType | None
    ]

MOST_SHOWN = 200


class JournalHook(Hook):
    """Replays and records one prompt of a journaled run, or one tool call made by the script."""

    def __init__(self, journal: Journal, prompt: PromptRun) -> None:
        self.journal = journal
        self._run = prompt
        self.asked: PromptKey | None = None
        self.steps = self.sent = 0

    def prompt(self, prompt: PromptRun, proceed: AnswerPrompt) -> Steps[Answer]:
        """Answers the prompt; if that fails, marks the rejected replies.

        A resumed run requests marked replies again.
        """
        try:
            return (yield from proceed(prompt))
        except PromptError as error:
            self._forget_unusable(error)
            raise

    def request(self, request: Request, proceed: SendRequest) -> ReplyStream:
        """Returns the recorded reply; if there is none, sends the request and records the reply."""
        key = key_of(request)
        name, model = provider_and_model(self._run.settings)
        asked = self.asked or (yield from self.begin(key, f"{name} {model}"))
        step, self.steps = self.steps, self.steps + 1
        entry = self.journal.find(asked, RowKind.EXCHANGE, step)
        if entry is not None and entry["hash"] == key:
            self.sent = len(request.messages)
            reply = reply_of(entry, self.journal.path)
            note_recorded(self._run.settings, reply.fallback or model, reply.usage)
            yield from _pieces_of(entry)
            return reply
        self.journal.check_whole()
        started = time.time()
        answer: Reply | ToolsUnsupported
        pieces: list[int] = []
        self._run.usage = None
        try:
            answer = yield from drive(proceed(request), partial(_counted, pieces))
        except ToolsUnsupported as refusal:
            answer = refusal
        used = [model, 0, 0]
        if isinstance(answer, Reply):
            used = [answer.fallback or model, *used_of(self._run.usage or answer.usage)]
        data = request_data(request)
        # Messages that earlier entries contain are left out, unless the conversation was restarted.
        told = self.sent if self.sent < len(request.messages) else 0
        data["messages"] = data["messages"][told:]
        self.sent = len(request.messages)
        place, function = (None, "") if self._run.place is None else self._run.place.described()
        entry = {
            "used": used,
            "hash": key,
            "who": f"{name} {model}",
            "place": place,
            "function": function,
            "time": round(started, 3),
            "ms": round((time.time() - started) * 1000, 1),
            "from": told,
            "request": data,
            **({"pieces": pieces} if pieces else {}),
            **outcome_data(answer),
        }
        yield Wait(partial(self.journal.put, asked, RowKind.EXCHANGE, step, entry))
        if isinstance(answer, Reply):
            return answer
        raise answer

    def tool_call(self, call: RequestedCall, proceed: MakeCall) -> Steps[Any]:
        """Returns the recorded outcome of a call, or makes the call and records it.

        If the call needs approval, the decision is recorded, too. By default, an MCP call that was
        started and has no recorded end stops the run, unless the tool is pure.
        """
        form, held, is_program = call.codec, call.approval, call.kind == "program"
        if form is not None and (call.is_pure or not _is_recordable(call)):
            return (yield from proceed(call))
        asked = self.asked or (yield from self.begin(key_of_data(call.asked)))
        step = f"t{call.number}"
        if form is not None:
            step += f"p{'_'.join(map(str, call.position))}"
        kept = CallRecord(self, asked, step, call)
        if not is_program and not (held is not None and held.is_put_off):
            in_doubt = "stop" if call.kind == "server" and not call.is_pure else "call"
            told = kept.ended(in_doubt)
            made = told and (_call_of(told, call) if form is None else form.decode(told))
            if made is not None:
                return made
        if held is not None:
            yield from kept.decide(held)
        if form is None:
            call.contexts.append(partial(within, RunScope(asked.inside(step))))
        if is_program or (held is not None and not held.is_allowed):
            return (yield from proceed(call))
        yield Wait(kept.begin)
        try:
            made = yield from proceed(call)
        except RunWaiting:
            yield Wait(kept.leave)
            raise
        outcome = {"args": made.args, "result": made.result, "error": made.error}
        outcome = outcome if form is None else form.encode()
        # The duration as the script measured it.
        yield Wait(partial(kept.end, {**outcome, "ms": made.duration}))
        return made

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
            self.journal.put(self.asked, RowKind.RETRY, step, {"why": why})

    def begin(self, key: str, who: str = "") -> Steps[PromptKey]:
        """Returns the key of this prompt in the journal.

        `key` is the hash of the prompt's first request, and `who` names the provider and the model.
        If the script itself calls a tool, `key` is the hash of the call, and `who` is empty.
        """
        asked = current_scope().asked(key_of_data([key, who]))
        with self.journal.equal_prompts(asked) as equal:
            self.asked = equal.take(asked.place, self._match)
            is_new = not equal.left
        if self.asked is None and not is_new:
            yield from wait_for_turn()
            self._take_equal(asked)
        if self.asked is None:
            with self.journal.equal_prompts(asked) as equal:
                self.asked = equal.name(asked)
        return self.asked

    def _take_equal(self, asked: PromptKey) -> None:
        """Takes the first unused record of an equal prompt as the record of this prompt.

        Raises JournalError if it is unknown whether the record belongs to this prompt.
        """
        in_doubt = set[str]()
        with self.journal.equal_prompts(asked) as equal:
            self.asked = equal.take_first(self._match)
            if self.asked is None:
                in_doubt = equal.tools_in_doubt(self._match)
        if self.asked is not None:
            self.journal.put(self.asked, RowKind.PLACE, RowKind.PLACE, {"place": asked.place})
        elif in_doubt and recovery_setting("SAFT_ON_INTERRUPTED_CALL", "stop") == "stop":
            raise JournalError(
                f"{self.journal.path}: the same request was sent more than once, and "
                f"{', '.join(sorted(in_doubt))} may have been called for this one or for another "
                "one: the values that it uses differ",
                hint="mention these values in the prompt, or name it by `journal_scope`; with "
                "SAFT_ON_INTERRUPTED_CALL=call it is sent again",
            )

    def _match(self, kept: KeptClosures) -> Match:
        """Says whether the called tools close over the same values now as in the record."""
        found = {compared(closed, self.closed(tool)) for tool, closed in kept.values()}
        if "other" in found:
            return "other"
        return "unsure" if "unsure" in found else "same"

    def closed(self, tool: str, *, with_mutable: bool = True) -> ClosedValues:
        """Digests of the values that the tool with this name, or the program, closes over now."""
        functions = self._run.functions
        # One function that closes over all functions of the program.
        program = partial(len, *functions.values()) if tool == "program" else None
        return closed_values(functions.get(tool, program), with_mutable=with_mutable)


def _is_recordable(call: RequestedCall) -> bool:
    """True if a call in a program can be recorded. If not, a resumed run makes the call again.

    A call whose arguments contain a function or a table cannot be recorded. Raises JournalError if
    such a call needs approval.
    """
    if not call.sent and call.is_approved:
        raise JournalError(f"{call.name} waits for approval, and its arguments cannot be kept")
    return bool(call.sent)


def _is_decision(entry: Entry) -> bool:
    """True if an entry is a well-formed decision, with only the fields that its verdict allows."""
    match entry:
        case {"decided": "yes" | "no" | "changed" as verdict, "reason": str(), "by": str()}:
            has_arguments = isinstance(entry.get("arguments"), str)
            is_begun = isinstance(entry.get("begun", 0.0), float | int)
            is_told = isinstance(entry.get("result"), str | None)
            return has_arguments == (verdict == "changed") and is_begun and is_told
        case _:
            return False


class CallRecord:
    """The journal's record of one call: its start, its outcome, and its approval if it needs one.

    A decision applies to the call's name, its exact arguments, and the text that the approver saw.
    """

    def __init__(self, hook: JournalHook, asked: PromptKey, step: str, call: RequestedCall) -> None:
        self._hook = hook
        self._journal = hook.journal
        self._asked = asked
        self._step = step
        self._is_in_program = call.codec is not None
        self._call: Entry = {"tool": call.name, "sent": call.sent}
        self._closed = NOTHING_CLOSED
        self._waits = call.approval is not None or call.is_approved
        if self._waits:
            self._call["approved"] = True
        self._began = 0.0

    def ended(self, in_doubt: str = "call") -> Entry | None:
        """Returns the recorded outcome, or None if the call must be made.

        If the call was started and has no recorded end, an environment variable says whether to
        make it again ("call") or to raise JournalError ("stop"); `in_doubt` is the default. If such
        a call was approved, JournalError is raised until a person has reported its outcome.
        """
        entry = self._found(RowKind.CALL)
        if entry is None or any(entry[name] != self._call[name] for name in ("tool", "sent")):
            return None
        if "ms" in entry:
            return entry
        if "left" in entry:
            return None
        if self._waits or "approved" in entry:
            return self._reported_outcome(entry)
        if recovery_setting("SAFT_ON_INTERRUPTED_CALL", in_doubt) == "call":
            return None
        way = (
            "without SAFT_ON_INTERRUPTED_CALL=stop"
            if in_doubt == "call"
            else "with SAFT_ON_INTERRUPTED_CALL=call"
        )
        raise _in_doubt(entry, "started", f"find out whether it did; {way}, it is called again")

    def _reported_outcome(self, entry: Entry) -> Entry | None:
        """The outcome that a person reported for an approved call without a recorded end.

        Returns None if the person reported that the call had no effect. Raises JournalError if
        nobody has reported an outcome.
        """
        found = self._found(RowKind.APPROVAL)
        if found is not None and found.get("begun") == entry["time"]:
            if found.get("result") is None:  # the call had no effect
                return None
            result = _as_json(found["result"]) if self._is_in_program else found["result"]
            return {**self._call, "result": result, "error": None, "ms": 0.0}
        raise _in_doubt(
            entry,
            "was approved and started",
            f"find out whether it did; `saftc approve {self._journal.path} --retry` makes the "
            "call again, and `--result RESULT` gives the model this result",
        )

    def decide(self, held: PendingApproval) -> Steps[None]:
        """Applies the recorded decision, or asks for one.

        Raises RunWaiting if nobody has decided yet.
        """
        if held.is_put_off and self._found(RowKind.CALL) is not None:
            raise RunWaiting(held.shown, held.place)
        held.key = key_of_data([*self._asked, self._step, held.digest])
        held.decision = self._decision(held)
        if held.decision is None:
            yield Wait(partial(self._ask, held))
        if held.decision is None or held.is_put_off:
            yield from held.decide(partial(self.answer, held))

    def _decision(self, held: PendingApproval) -> Decision | None:
        """The recorded decision about exactly this call, or None if there is no usable decision."""
        found = self._found(RowKind.APPROVAL)
        if found is None or found["digest"] != held.digest or not _is_decision(found):
            return None
        decision: Decision = load_part("approval").Decision(
            found["decided"], found["reason"], found["arguments"], found["by"]
        )
        problem = held.problem_with(decision)
        if problem is not None:
            note(f"{self._journal.path}: {problem}")
            return None
        return decision

    def _ask(self, held: PendingApproval) -> None:
        """Records that the call waits for a decision."""
        found = self._found(RowKind.APPROVAL)
        if found is None or found["digest"] != held.digest or "decided" in found:
            more = {"place": held.place, "time": round(time.time(), 3), "schema": held.schema}
            self._keep(RowKind.APPROVAL, {**self._question(held), **more, **self._journal.began_by})

    def answer(self, held: PendingApproval, decision: Decision) -> None:
        """Records a decision, who made it, and when."""
        self._keep(RowKind.APPROVAL, {**self._question(held), **decision_data(decision)})

    def _question(self, held: PendingApproval) -> Entry:
        names = ("kind", "digest", "sent", "shown")
        question = {"asks": held.name, **{name: getattr(held, name) for name in names}}
        closed = self._hook.closed(held.name, with_mutable=False)
        return {**question, "closed": closed} if any(closed) else question

    def begin(self) -> None:
        """Records the start of the call: from now on, the call may have had an effect."""
        self._journal.check_whole()
        self._began = time.time()
        self._closed = self._hook.closed(self._call["tool"])
        # Which values the call will change is not known yet.
        constant = self._hook.closed(self._call["tool"], with_mutable=False)
        self._keep_call({"closed": constant} if any(constant) else {})

    def leave(self) -> None:
        """Records that an approval inside the call has suspended the call; it will be restarted."""
        self._keep_call({"left": True})

    def end(self, outcome: Entry) -> None:
        """Records the outcome, so that the call is not repeated."""
        closed = self._closed.settled(self._hook.closed(self._call["tool"]))
        self._keep_call({"closed": closed, **outcome} if any(closed) else outcome)

    def _found(self, kind: RowKind) -> Entry | None:
        return self._journal.find(self._asked, kind, self._step)

    def _keep(self, kind: RowKind, entry: Entry) -> None:
        self._journal.put(self._asked, kind, self._step, entry)

    def _keep_call(self, more: Entry) -> None:
        self._keep(RowKind.CALL, {**self._call, "time": round(self._began, 3), **more})


def _in_doubt(entry: Entry, how: str, hint: str) -> JournalError:
    return JournalError(
        f"{entry['tool']} {shown(entry['sent'], MOST_SHOWN)} {how} {time_text(entry['time'])}, and "
        "its run ended before the call did: it may or may not have taken effect",
        hint=hint,
    )


def _as_json(text: str) -> str:
    """The JSON text of a result that a person gave for a call in a program.

    If the given text is not JSON, the result is a JSON string with this text.
    """
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return to_json(text)
    return text


def decision_data(decision: Decision) -> Entry:
    """A decision as fields of a journal entry."""
    return {
        "decided": decision.verdict,
        "reason": decision.reason,
        "arguments": decision.arguments,
        "by": decision.by,
        "time": round(time.time(), 3),
    }


def _call_of(told: Entry, call: RequestedCall) -> ToolCall:
    """The ToolCall of a recorded call; `told` is the recorded outcome.

    For an approved call, it has the arguments that the function got; for any other call, it has the
    arguments that the model sent.
    """
    is_whole = "approved" in told and "args" in told
    arguments = told["args"] if is_whole else sent_arguments(call.sent)
    return ToolCall(call.name, arguments, told["result"], told["error"], told["ms"])


def record_moment(asked: str, moment: datetime) -> datetime:
    """Returns the time that the journal has recorded under the name `asked`.

    If there is none, records and returns `moment`. Without a journal, returns `moment`.
    """
    def look(_: RequestedCall) -> Steps[ToolCall]:
        yield from ()
        return ToolCall(asked, None, to_json(moment), None, 0.0)

    hook = hook_for(PromptRun(settings_for()))
    if hook is None:
        return moment
    call = RequestedCall(asked, "{}", asked=[asked])
    found: datetime = read("datetime", json.loads(finish(hook.tool_call(call, look)).result))
    return found


def _counted(pieces: list[int], step: Wait | str) -> Steps[Any]:
    """Performs a step of a reply. If the step is a text chunk, adds its length to `pieces`."""
    if isinstance(step, str):
        pieces.append(len(step))
    return (yield step)


def _pieces_of(entry: Entry) -> Generator[str]:
    """Yields the text of a recorded reply, in the chunks in which it was streamed."""
    text, start = entry.get("reply", {}).get("text", ""), 0
    for length in entry.get("pieces", ()):
        yield text[start : start + length]
        start += length


def hook_for(prompt: PromptRun) -> JournalHook | None:
    """The journal hook of this prompt, or None if the run has no journal."""
    journal = current_journal(prompt.settings)
    return None if journal is None else JournalHook(journal, prompt)


# The journal of the process or of a block


_of_process: OpenFiles[Journal] = OpenFiles()
# The root scope of the process's run once that is over: no later prompt can be recorded.
_over: RunScope | None = None


def current_journal(settings: Settings) -> Journal | None:
    """The journal of the enclosing block or, by default, of the process.

    Returns None without such a journal. The journal of the process is opened at the first use.
    Raises ConfigError if the run is also recorded or replayed.
    """
    journal: Journal | None = current_context().journal
    if journal is not None:
        return journal
    path = os.environ.get("SAFT_JOURNAL")
    if not path:
        return None
    if os.environ.get("SAFT_RECORD") or os.environ.get("SAFT_REPLAY"):
        raise ConfigError(
            "a run with a journal cannot be recorded or replayed",
            setting="journal",
            hint="`--replay` also reads journals",
        )
    return _of_process.at(path, lambda path: _begun(path, settings))


def _begun(path: str, settings: Settings) -> Journal:
    """Opens the journal of the process; raises JournalError once the run is over."""
    if _over is root():
        raise JournalError(f"the run is over: {path} keeps nothing more")
    return count_recorded(Journal(path), settings, for_blocks=False)


def count_recorded(journal: Journal, settings: Settings, *, for_blocks: bool) -> Journal:
    """Charges recorded replies to the run's budget, except those that it has counted before.

    If `for_blocks`, also charges the budgets of the enclosing blocks.
    """
    journal.meters = current_meters() if for_blocks else current_meters()[:1]
    for meter in journal.meters:
        meter.has_kept = True
        for model, paid in journal.paid(meter).items():
            meter.add_recorded(settings, model, *paid)
    return journal


def journaled(path: str | os.PathLike[str]) -> JournaledBlock:
    """Runs the block as a separate run that is kept in this file, or resumes that run.

    The journal applies to this thread or task, and to threads and tasks that get a copy of its
    context. `with` opens and closes the file in the calling thread, and `async with` in another
    thread.

    Raises JournalInUse if another run is using the file, and ConfigError if the file is not usable.
    """
    return JournaledBlock(partial(_of_block, os.fspath(path)))


def _of_block(path: str) -> Journal:
    return count_recorded(Journal(path, is_of_block=True), settings_for(), for_blocks=True)


def keeping_in(journal: Journal) -> JournaledBlock:
    """Runs the block as a separate run that is recorded in `journal`, then closes the journal."""
    return JournaledBlock(lambda: journal)


class JournaledBlock:
    """A block that runs with the journal that `begin` opens, and closes the journal at its end."""

    def __init__(self, begin: Callable[[], Journal]) -> None:
        self._begin = begin

    def __enter__(self) -> None:
        self._enter(self._begin())

    def __exit__(self, *raised: *Raised) -> None:
        self._leave(raised)()

    async def __aenter__(self) -> None:
        opened: list[Journal] = []
        try:
            await finish_in_thread(lambda: opened.append(self._begin()))
        except BaseException:
            for journal in opened:  # the task was cancelled meanwhile
                await finish_in_thread(partial(journal.close, "interrupted"))
            raise
        self._enter(opened[0])

    async def __aexit__(self, *raised: *Raised) -> None:
        await finish_in_thread(self._leave(raised))

    def _enter(self, journal: Journal) -> None:
        self._journal, self._block = journal, Block(journal=journal, scope=RunScope())
        self._block.__enter__()

    def _leave(self, raised: Raised) -> Callable[[], None]:
        """Ends the block in this context, and returns a function that closes its journal."""
        self._block.__exit__(*raised)
        return partial(self._journal.close, _how_ended(raised[1]))


def close_journals(ended: str) -> None:
    """Closes the journals of the process, and records in them how the run ended.

    Afterwards, other threads cannot reopen the journals. Raises JournalError if something could not
    be recorded and no other error has reported that.
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


# A forked process does not continue its parent's run.
after_fork(lambda: set_context(journal=None))
