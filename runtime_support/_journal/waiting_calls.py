"""Finds the calls that wait for approval in a journal, and writes decisions into the journal.

    for call in waiting_calls("run.journal"):
        print(call.shown, call.place)
        decide(call, Decision.no("above the limit", by="ada"))

The run may be active meanwhile. An approved call that was running when its run ended is in doubt:
it may have taken effect. A person finds out, and `settle` records the result.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal

from runtime_support._core.reader.replies import read_arguments
from runtime_support._core.redaction import secret_in
from runtime_support._journal.approval import (
    DECISIONS,
    PROGRAM,
    Decision,
    PendingCall,
    Verdict,
    as_decision,
)
from runtime_support._journal.hook import decision_data
from runtime_support._journal.journal import RowKind, add, entries, is_in_use, is_journal
from runtime_support._journal.json_lines import Entry, key_of_data
from runtime_support._schema.documents import fits
from runtime_support._values.kinds import brief, is_object
from runtime_support.errors import CheckError, ConfigError

# A subfolder of an output folder of `saftc map`, with further journals of the job.
_OF_CHUNKS = "journal"
_OF_CALLS = f"kind in ('{RowKind.CALL}', '{RowKind.APPROVAL}')"
_AT_PLACE = "(scope, key, place, step) = (?, ?, ?, ?)"
# Where the scope of a tool call begins within a longer scope: see `PromptKey.inside`.
_IN_CALL = re.compile(r"/?(?=[0-9a-f]{16}\.)")


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingCall(PendingCall):
    """A call or program that waits in a journal, with the data that an approver sees.

    `journal` is the path of the journal. `asked` is when the approval was requested, in seconds
    since 1970. `begun` is when an approved call in doubt was started, else None.
    """

    journal: str
    at: tuple[Any, ...]
    asked: float
    begun: float | None
    question: Entry = field(repr=False)

    @property
    def is_in_doubt(self) -> bool:
        """True if the run ended during the approved call, which may have taken effect.

        Use `settle` for a call in doubt, and `decide` for any other call.
        """
        return self.begun is not None

    @property
    def scope(self) -> str:
        """The name of the part of the run that the call belongs to.

        It is the name given to `journal_scope`, or `row/17` for row 17 of a job. In any other part
        of the run, it is empty.
        """
        return _IN_CALL.split(self.at[0])[0]


def waiting_calls(path: str | os.PathLike[str]) -> list[WaitingCall]:
    """Returns the calls that wait in a journal, or in the journals of a folder.

    Running calls of an active run are not in doubt. Raises a ConfigError if the file is not a
    journal.
    """
    path = os.fspath(path)
    journals = _journals_in(path) if os.path.isdir(path) else [path]
    return [call for one in journals for call in _waiting_in(one)]


def decide(call: WaitingCall, decision: Verdict) -> None:
    """Writes a decision about a waiting call into its journal; the run takes it when it resumes.

    Raises a CheckError if the call is in doubt, if changed arguments do not fit, or if the decision
    contains a secret key. Raises a ConfigError if the call no longer waits.
    """
    if call.is_in_doubt:
        raise CheckError(
            f"{call.shown} was under way when its run ended: it may have taken effect",
            hint="find out whether it did, and settle it",
        )
    made = as_decision(decision)
    if made is None:
        raise CheckError(f"{brief(decision)} is not a decision about {call.shown}", hint=DECISIONS)
    if made.verdict == "changed":
        problem = _problem(call, made.arguments or "")
        if problem is not None:
            raise CheckError(problem)
    _add(call, call.at, decision_data(made))


def settle(call: WaitingCall, result: str | None, by: str = "") -> None:
    """Writes the result of a call in doubt into the journal.

    The model gets this result. If `result` is None, the resumed run makes the call again. Raises a
    CheckError if the call is not in doubt. Raises a ConfigError while the run is active, or if the
    call was settled before.
    """
    if not call.is_in_doubt:
        raise CheckError(f"{call.shown} has not started", hint="decide whether it may")
    at = (*call.at[:4], RowKind.APPROVAL)
    known = {name: call.question.get(name) for name in ("decided", "reason", "arguments")}
    decision = known if known["decided"] is not None else decision_data(Decision.yes())
    found = {"begun": call.begun, "result": result, "by": by, "time": round(time.time(), 3)}
    _add(call, at, {**decision, **found})


def began_by(path: str) -> tuple[list[str], str] | None:
    """The `saftc` command line that started a journal's run, and its working directory.

    Returns None if they are unknown, or if the directory no longer exists.
    """
    questions = [one for one in entries(path, f"kind = '{RowKind.APPROVAL}'") if "schema" in one]
    match questions[-1:]:
        case [{"command": [str(), *_] as words, "folder": str() as there}] if os.path.isdir(there):
            return [str(word) for word in words], there
        case _:
            return None


def _journals_in(folder: str) -> Iterator[str]:
    for inner in (folder, os.path.join(folder, _OF_CHUNKS)):
        if os.path.isdir(inner):
            paths = (os.path.join(inner, name) for name in sorted(os.listdir(inner)))
            yield from (path for path in paths if is_journal(path))


def _waiting_in(path: str, where: str = "true", *values: Any) -> list[WaitingCall]:
    """The calls that wait in a journal, among the rows for which `where` holds."""
    questions: dict[tuple[Any, ...], Entry] = {}
    calls: dict[tuple[Any, ...], Entry] = {}
    for one in entries(path, f"{_OF_CALLS} and {where}", *values):
        at, kind = tuple(one["at"][:4]), one["at"][4]
        if kind == RowKind.CALL:
            calls[at] = one
        else:  # a decision has only a part of the question
            questions[at] = one if "schema" in one else {**questions.get(at, {}), **one}
    found: list[WaitingCall] = []
    goes_on = is_in_use(path)
    for at in {**questions, **calls}:
        question, call = questions.get(at, {}), calls.get(at, {})
        if question and "decided" not in question:
            found.append(_waiting(path, (*at, RowKind.APPROVAL), question, None))
        has_begun = call.get("approved") and "ms" not in call and "left" not in call
        if has_begun and not goes_on and question.get("begun") != call["time"]:
            shown = question.get("shown", f"{call['tool']} {call['sent']}")
            question = {**question, "asks": call["tool"], "sent": call["sent"], "shown": shown}
            found.append(_waiting(path, (*at, RowKind.CALL), question, call["time"]))
    return found


def _waiting(path: str, at: tuple[Any, ...], question: Entry, begun: float | None) -> WaitingCall:
    kind: Literal["call", "program"] = "program" if question.get("kind") == PROGRAM else "call"
    return WaitingCall(
        tool=question["asks"],
        args=_arguments(kind, question.get("sent", "")),
        shown=question["shown"],
        place=question.get("place"),
        key=key_of_data([*at[:4], question.get("digest", "")]),
        kind=kind,
        journal=path,
        at=at,
        asked=question.get("time", begun or 0.0),
        begun=begun,
        question=question,
    )


def _arguments(kind: str, sent: str) -> Mapping[str, Any]:
    """The arguments as the model sent them, or no arguments if they cannot be parsed."""
    with suppress(CheckError, ValueError):
        return {PROGRAM: json.loads(sent)} if kind == PROGRAM else read_arguments(sent)[0]
    return {}


def _problem(call: WaitingCall, arguments: str) -> str | None:
    """The reason why changed arguments do not fit the schema in the journal; None if they fit.

    The run checks the arguments again, against the function itself.
    """
    if call.kind == PROGRAM:
        return "a program is approved or refused as a whole"
    try:
        read = read_arguments(arguments)[0]
    except CheckError as error:
        return str(error)
    schema = call.question.get("schema")
    if not is_object(schema):
        return None
    fields: Any = schema.get("properties", {})
    missing = [name for name in schema.get("required", ()) if name not in read]
    if missing:
        return f"`{call.tool}` needs {missing[0]}"
    for name, value in read.items():
        wanted: Any = fields.get(name, schema.get("additionalProperties", {}))
        if wanted is False:
            return f"`{call.tool}` has no parameter {name}"
        if not fits(wanted, value, schema.get("$defs", {})):
            return f"{name}: {json.dumps(value)} does not fit the schema {json.dumps(wanted)}"
    return None


def _add(call: WaitingCall, at: tuple[Any, ...], decision: Entry) -> None:
    held = secret_in(json.dumps(decision, ensure_ascii=False))
    if held is not None:
        raise CheckError(f"the decision holds something like a key ({held}), which is not kept")
    kept = {"asks", "kind", "digest", "sent", "shown"}
    question = {name: part for name, part in call.question.items() if name in kept}
    whole = {"kind": "call", "digest": "", **question}

    def check() -> None:
        here = _waiting_in(call.journal, _AT_PLACE, *call.at[:4])
        if not any((one.at, one.key) == (call.at, call.key) for one in here):
            raise ConfigError(f"{call.shown} no longer waits")

    add(call.journal, at, {"asks": call.tool, **whole, **decision}, check)
