"""Decisions about calls that wait for approval, at the terminal of a run or later.

A person is shown the call, and answers the questions:

    refund(order: "A-17", amount: 25.0)
      at desk.saft:12:7
    yes, no, change the arguments, or later? no
    the reason, for the model: above the limit
"""

import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from saftc.reporting import WrongUsage, show_info, visible, write_result

if TYPE_CHECKING:
    from runtime_support import Decision, PendingCall
    from runtime_support.runs import WaitingCall
    from saftc.cli.flags import ApproveOptions
    from saftc.trace.person import PageInput

_QUESTION = "yes, no, change the arguments, or later? "
_OF_A_PROGRAM = "yes, no, or later? "


def let_person_decide() -> None:
    """Lets the runtime ask the person at this terminal or page about calls that wait for approval.

    This only registers a function, which the runtime calls for each such call.
    """
    from runtime_support._core.tasks import turns as order

    if os.environ.get("SAFT_LIVE"):
        from saftc.trace.person import attend

        order.ask_person = partial(ask_at_page, attend(os.environ["SAFT_LIVE"]))
    elif is_at_terminal():
        order.ask_person = ask_at_terminal


def is_attended() -> bool:
    """Whether a person at a page or a terminal can be asked."""
    return bool(os.environ.get("SAFT_LIVE")) or is_at_terminal()


def is_at_terminal() -> bool:
    """Whether a person can be asked at this terminal: standard input and error are terminals."""
    # A closed stream is None in Python.
    streams: tuple[Any, ...] = (sys.stdin, sys.stderr)
    return all(one is not None and one.isatty() for one in streams)


def ask_at_terminal(
    call: "PendingCall", problem_with: "Callable[[Decision], str | None]"
) -> "Decision | None":
    """Asks the person at the terminal to decide about a call; None if they put it off.

    `problem_with` returns the reason why a decision is not valid.
    """
    from runtime_support import Decision

    _write(f"{described(call.shown)}\n")
    if call.place is not None:
        _write(f"  at {call.place}\n")
    question = _QUESTION if call.kind == "call" else _OF_A_PROGRAM
    while True:
        answer = _read(question)
        word = None if answer is None else answer.strip().lower()
        if word in ("yes", "y"):
            return Decision.yes(by=person())
        if word in ("no", "n"):
            return Decision.no(_read("the reason, for the model: ") or "", by=person())
        if word in (None, "later", "l"):
            return None
        if word in ("change", "c") and call.kind == "call":
            changed = _changed(_read("the arguments, as JSON: ") or "")
            problem = changed if isinstance(changed, str) else problem_with(changed)
            if not isinstance(changed, str) and problem is None:
                return changed
            _write(f"{visible(str(problem))}\n")


def ask_at_page(
    lines: "PageInput", call: "PendingCall", problem_with: "Callable[[Decision], str | None]"
) -> "Decision | None":
    """Asks the person at the page of `saftc play` to decide; None if no answer will come.

    `problem_with` returns the reason why a decision is not valid.
    """
    problem: str | None = None
    told = {"event": "waits", "shown": described(call.shown), "place": call.place}
    arguments = json.dumps(call.args, ensure_ascii=False, default=str, indent=1)
    told["arguments"] = arguments if call.kind == "call" else None
    while answer := lines.answer({**told, "problem": problem}):
        decision = _sent(json.loads(answer))
        problem = decision if isinstance(decision, str) else problem_with(decision)
        if not isinstance(decision, str) and problem is None:
            return decision
    return None


def _sent(answer: dict[str, str]) -> "Decision | str":
    """The decision that the page sent, or a text that says why the decision is invalid."""
    from runtime_support import Decision

    match answer["verdict"]:
        case "yes":
            return Decision.yes(by=person())
        case "no":
            return Decision.no(answer["reason"], by=person())
        case _:
            return _changed(answer["arguments"])


def _changed(text: str) -> "Decision | str":
    """The decision to make the call with other arguments, which `text` has as JSON.

    If the text is not valid, the result is a message about that.
    """
    from runtime_support import Decision

    try:
        arguments = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"this is not JSON: {error}"
    if not isinstance(arguments, dict):
        return "the arguments are an object: {\"order\": \"A-17\"}"
    return Decision("changed", arguments=text, by=person())


def described(shown: str) -> str:
    """The text of a call for the person who decides about it.

    The call is on one line, and API keys are hidden. A second line names unusual letters in it.
    """
    from runtime_support._core.redaction import escaped, redacted

    text = escaped(redacted(shown))
    odd = [_letter(one) for one in dict.fromkeys(text) if not _is_usual(one)]
    return f"{text}\n  with {', '.join(odd)}" if odd else text


def _is_usual(letter: str) -> bool:
    import unicodedata

    return letter.isascii() or unicodedata.name(letter, "").startswith("LATIN ")


def _letter(letter: str) -> str:
    import unicodedata

    return f"U+{ord(letter):04X} {unicodedata.name(letter, '')}".rstrip()


def person() -> str:
    """The name of the user who decides."""
    import getpass

    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # there is none
        return "unknown user"


def _write(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def _read(question: str) -> str | None:
    """Asks a question at the terminal. Returns the line read, or None at the end of the input."""
    _write(question)
    line = sys.stdin.readline()
    if not line:
        _write("\n")
        return None
    return line.rstrip("\r\n")


# `saftc approve`


def _decision(options: "ApproveOptions") -> "Decision | None":
    """The decision about waiting calls that the options express; None if they express none.

    Raises:
        WrongUsage: The options express several decisions.
    """
    from runtime_support import Decision

    given = [options.yes, options.deny is not None, options.arguments is not None]
    if sum([*given, options.retry, options.result is not None]) > 1:
        raise WrongUsage("choose one of --yes, --deny, --arguments, --retry and --result")
    if options.yes:
        return Decision.yes(by=person())
    if options.deny is not None:
        return Decision.no(options.deny, by=person())
    if options.arguments is not None:
        return Decision("changed", arguments=options.arguments, by=person())
    return None


def approve_calls(target: str, options: "ApproveOptions") -> int:
    """Decides about the calls that wait in a journal or folder, and resumes the run.

    If the options do not decide, a person at a terminal is asked. Elsewhere, the calls are listed.
    Returns the exit code.
    """
    from runtime_support.errors import RunWaiting
    from runtime_support.runs import decide, settle, waiting_calls

    decision, calls = _decision(options), waiting_calls(target)
    settles = options.retry or options.result is not None
    if not calls:
        show_info(f"nothing waits for approval in {target}")
        return 0
    if decision is None and not settles:
        asked = _meant(calls, options.call) if options.call else calls
        if not is_at_terminal():
            _show(asked)
            return RunWaiting.exit_code
        _ask_about(asked)
    for one in _meant(calls, options.call or ()) if decision is not None or settles else ():
        if settles:
            settle(one, options.result, person())
        elif decision is not None:
            decide(one, decision)
    left = waiting_calls(target)
    if left:
        _show(left)
        return RunWaiting.exit_code
    return 0 if options.decide_only else _go_on(target)


def _meant(calls: "Sequence[WaitingCall]", ids: Sequence[str]) -> "list[WaitingCall]":
    """The waiting calls with these ids. Without ids, the result is the only call that waits.

    Raises:
        WrongUsage: No call with an id waits, or several calls wait and none is named.
    """
    if not ids and len(calls) > 1:
        _show(calls)
        raise WrongUsage(f"{len(calls)} calls wait: choose by --call ID, which may be repeated")
    by_id = {_id_of(one): one for one in calls}
    for unknown in set(ids) - set(by_id):
        _show(calls)
        raise WrongUsage(f"--call {unknown}: no call with this id waits")
    return [by_id[one] for one in dict.fromkeys(ids or by_id)]


def _id_of(call: "WaitingCall") -> str:
    """The id of a call, which stays the same when other calls are decided or journals are added."""
    from runtime_support._journal.json_lines import key_of_data

    return key_of_data([os.path.realpath(call.journal), call.key])


def _show(calls: "Sequence[WaitingCall]") -> None:
    """Writes the waiting calls, with their ids, to standard output."""
    write_result("".join(map(_as_details, calls)))


def _as_details(call: "WaitingCall") -> str:
    from runtime_support._journal.journal import time_text

    where = [f"--call {_id_of(call)}"]
    if call.scope:
        where.append(re.sub(r"^row/(\d+)$", r"row \1", described(call.scope)))
    if call.place is not None:
        where.append(f"at {call.place}")
    state = f"asked {time_text(call.asked)}"
    if call.begun is not None:
        state = (
            f"IN DOUBT: approved and started {time_text(call.begun)}, and its run ended before "
            "the call did; find out whether it took effect, then --retry or --result RESULT"
        )
    return f"{described(call.shown)}\n   {', '.join([*where, state])}, in {call.journal}\n"


def _ask_about(calls: "Sequence[WaitingCall]") -> None:
    """Asks the person at the terminal about each call.

    A call in doubt, which may have been made already, is only shown.
    """
    from runtime_support.errors import CheckError
    from runtime_support.runs import decide

    for one in calls:
        if one.is_in_doubt:
            _write(_as_details(one))
            continue
        while True:
            decision = ask_at_terminal(one, lambda _: None)
            if decision is None:
                break
            try:
                decide(one, decision)
                break
            except CheckError as problem:
                _write(f"{visible(str(problem))}\n")


def _go_on(journal: str) -> int:
    """Resumes the run of a journal, if the journal has the command that started it.

    Returns the exit code of the run, or 0 if it was not resumed.
    """
    import subprocess

    from runtime_support._journal.journal import is_in_use
    from runtime_support._journal.waiting_calls import began_by

    if is_in_use(journal):
        show_info("decided; the run is still active: run the same command again when it has ended")
        return 0
    found = None if os.path.isdir(journal) else began_by(journal)
    if found is None:
        show_info("decided; repeat the command, or the call of a server, to resume")
        return 0
    command, folder = found
    show_info(f"resuming: saftc {' '.join(command)}")
    variables = {**os.environ, "SAFT_JOURNAL": os.path.abspath(journal)}
    whole = [sys.executable, "-m", "saftc", *command]
    code = subprocess.run(whole, cwd=folder, env=variables, check=False).returncode
    return code if code >= 0 else 128 - code  # as shells report a killed process
