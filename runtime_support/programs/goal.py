"""The goal of a conversation that wants a program: read it, run it, or say why not.

    {"find_book": {"title": "Emma"}}     goes back: Ambiguous at (root): 2 books are called Emma.
    2                                    the second candidate of that answer

A failure while a program runs is the end: what it did cannot be undone by asking again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from runtime_support.contracts import Contract, Unreadable, without_thinking
from runtime_support.exchange import ToolRequest
from runtime_support.programs.checking import CheckedProgram
from runtime_support.programs.evaluation import check, run
from runtime_support.programs.json_schema import schema
from runtime_support.programs.outcomes import (
    Ambiguous,
    Call,
    Candidate,
    Failure,
    Outcome,
    Success,
    compact,
)
from runtime_support.programs.registry import Registry, describe
from runtime_support.programs.serialization import SerializationError, serialize
from runtime_support.programs.syntax import Limits
from runtime_support.programs.types import ANY, notation
from runtime_support.results import ToolCall
from runtime_support.schema import AnySchema
from runtime_support.tracing import Observer
from runtime_support.values import is_dataframe, is_list, is_object

GRAMMAR = """\
Answer with one program, as JSON only, with no other text. It is checked as a whole, then run once.
- {"name": {"parameter": ...}} calls; each argument is a program again, so calls nest.
- null, true, numbers, texts, [lists] and records of several fields stand for themselves;
  a record of one field is written {"$object": {"field": ...}}.
- {"$let": {"bind": {"x": ...}, "in": ...}} names results, {"$ref": "x"} uses one.
- {"$map": {"over": list, "as": "x", "where": test, "do": ...}} makes a list; "where" is optional.
- {"$if": {"test": ..., "then": ..., "else": ...}} chooses.
Each `conv` is applied by itself where its result is asked for."""

_FENCED = re.compile(r"```[a-zA-Z]*\s*\n(.*?)\n\s*```", re.DOTALL)
_CHOICE = re.compile(r"[#(]?(\d{1,3})[.)]?")


@dataclass(frozen=True, slots=True)
class ProgramCall(ToolCall):
    """A call that a program made: `path` is a JSON Pointer into the program."""

    path: str = ""


class ProgramGoal:
    """Reaches the value of a program, or the checked program itself when it is not to run."""

    is_typed = True

    def __init__(self, registry: Registry, returns: Any, limits: Limits, runs: bool) -> None:
        self.repairs: list[str] = []
        self.calls: list[ProgramCall] = []
        self.outcome: Outcome | None = None
        self.plan: CheckedProgram | None = None
        self.limits = limits
        self.observer = Observer()
        self._registry = registry
        self._returns = returns
        self._runs = runs
        self._made: list[Call] = []
        self._candidates: tuple[Candidate, ...] = ()

    @property
    def is_reached(self) -> bool:
        return self.has_value or (self.outcome is not None and not _goes_back(self.outcome))

    @property
    def has_value(self) -> bool:
        return self.plan is not None or isinstance(self.outcome, Success)

    @property
    def value(self) -> Any:
        return self.outcome.value if isinstance(self.outcome, Success) else self.plan

    @property
    def contract(self) -> Contract | None:
        written = schema(self._registry, self._returns)
        written.pop("$schema")
        return Contract(AnySchema(), "", written, is_strict=False)

    def ending(self) -> str:
        lines = describe(self._registry)
        result = self._registry.read_type(self._returns)
        asked = "" if result == ANY else f"\nThe value of the program has to be: {notation(result)}"
        available = f"\nWhat it can call:\n{lines}" if lines else ""
        return f"{GRAMMAR}{available}{asked}"

    def return_tools(self) -> list[dict[str, Any]]:
        return []

    def takes(self, call: ToolRequest) -> bool:
        return False

    def keep(self, call: ToolRequest) -> str:
        raise LookupError(call.name)

    def accept(self, text: str) -> None:
        program = self._chosen(without_thinking(text).strip())
        checked = check(program, self._registry, returns=self._returns, limits=self.limits)
        if not isinstance(checked, CheckedProgram):
            outcome: Outcome = checked
        elif self._runs:
            outcome = run(checked, limits=self.limits, earlier=self._made)
        else:
            self.plan = checked
            return
        self.outcome = outcome
        self._record(outcome)
        self._candidates = () if isinstance(outcome, Success) else outcome.candidates
        if _goes_back(outcome):
            raise Unreadable(str(outcome))

    def reminder(self, reason: str) -> str:
        return reason if self._candidates else f"{reason}\nReply with a corrected program."

    def state(self) -> str:
        return ""

    def _chosen(self, answer: str) -> Any:
        """The program: that candidate whose number it is, or what is written."""
        number = _CHOICE.fullmatch(answer) if self._candidates else None
        if number is None:
            return self._readable(answer)
        index = int(number[1]) - 1
        if not 0 <= index < len(self._candidates):
            count = len(self._candidates)
            raise Unreadable(f"There is no program {number[1]}, only 1 to {count}.")
        self.repairs.append(f"chose {self._candidates[index].sentence}")
        return compact(self._candidates[index].program)

    def _readable(self, answer: str) -> Any:
        """Text of JSON where there is any: as it is, from a fence, or recovered."""
        fenced = _FENCED.findall(answer)
        if len(fenced) == 1:
            self.repairs.append("read from a code fence")
            answer = fenced[0].strip()
        outcome = check(answer, self._registry, limits=self.limits)
        is_json = not isinstance(outcome, Failure) or "is not JSON" not in outcome.message
        if is_json or not answer:
            return answer
        from runtime_support.recovery import RecoveryRefused, recover

        try:
            recovered = recover(answer, AnySchema())
        except RecoveryRefused:
            return answer
        if not (is_object(recovered.value) or is_list(recovered.value)):
            return answer
        self.repairs.extend(recovered.repairs)
        return recovered.value

    def _record(self, outcome: Outcome) -> None:
        made = [call for call in outcome.calls if not call.reused]
        self._made += [call for call in made if not call.pure]
        for call in made:
            if call.kind != "type":
                self.calls.append(self._told(call))
                self.observer.called(self.calls[-1])

    def _told(self, call: Call) -> ProgramCall:
        arguments = {name: self._written(value) for name, value in call.arguments.items()}
        result = None if call.error is not None else self._written(call.result)
        if result is not None and not isinstance(result, str):
            result = compact(result)
        text = "null" if call.error is None and result is None else result
        return ProgramCall(
            call.name, arguments, text, call.error, call.seconds * 1000, path=call.path
        )

    def _written(self, value: Any) -> Any:
        """The value as a program, or how it is shown when it has none."""
        if is_dataframe(value):
            from runtime_support.tables import summary

            return summary(value)
        try:
            return serialize(value, self._registry)
        except SerializationError:
            return repr(value)


def _goes_back(outcome: Outcome) -> bool:
    """Whether the model may try again: nothing ran, or there is a choice to make."""
    if isinstance(outcome, Failure):
        before_running = outcome.kind == "limit" and not outcome.calls
        return outcome.kind == "invalid" or before_running
    return isinstance(outcome, Ambiguous)
