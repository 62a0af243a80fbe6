"""Programs that the mock writes: the functions that the text names, called in its order.

    "double 5, then add 3, with double add"      {"add": {"a": {"double": {"x": 5}}, "b": 3}}
    "double each of [1,2]"                       {"$map": {"over": [1,2], "as": "item", "do": ...}}
"""

from __future__ import annotations

import re
from typing import Any

from runtime_support.jsontext import to_json
from runtime_support.providers.mock.answering import value_for
from runtime_support.providers.mock.calling import MOST_CALLS, mention
from runtime_support.providers.mock.filling import HOPS, SCALARS, Filling, Made, Supply
from runtime_support.providers.mock.reading import Reading
from runtime_support.providers.mock.signatures import (
    Parameter,
    Signature,
    item_of,
    members,
    signatures_in,
    takes,
    wanted_in,
)
from runtime_support.values import is_list

_CANDIDATE = re.compile(r"^(\d+)\. (.*?): ", re.MULTILINE)
_LATEST = frozenset(("newest", "latest", "newer", "last", "recent"))
_EARLIEST = frozenset(("oldest", "earliest", "older", "first", "original"))


def program_for(reading: Reading, ending: str, answers: list[str]) -> str:
    """The text of a program, or the number of a candidate when there is a choice to make."""
    candidates = _CANDIDATE.findall(answers[-1]) if answers else []
    if candidates:
        return _chosen(candidates, reading)
    return to_json(_Composer(signatures_in(ending), reading).program(wanted_in(ending)))


def _chosen(candidates: list[tuple[str, str]], reading: Reading) -> str:
    """The number of the candidate that the prompt speaks for."""
    numbered = [
        (int(found[0]), index)
        for index, (_, sentence) in enumerate(candidates)
        if (found := re.findall(r"\d+", sentence))
    ]
    if numbered and reading.words & _LATEST:
        return candidates[max(numbered)[1]][0]
    if numbered and reading.words & _EARLIEST:
        return candidates[min(numbered)[1]][0]
    said = set(re.findall(r"\w+", reading.text.lower()))
    shared = [len(said & {*re.findall(r"\w+", sentence.lower())}) for _, sentence in candidates]
    return candidates[shared.index(max(shared))][0]


class _Composer:
    def __init__(self, signatures: list[Signature], reading: Reading) -> None:
        self.signatures = signatures
        self.reading = reading
        self.filling = Filling(signatures, reading)
        own_names = {signature.name for signature in signatures}
        names = [name for name in reading.names if name not in own_names]
        self.supply = Supply(values=[*reading.values, *names])

    def program(self, wanted: str) -> Any:
        """A program whose value is one of the wanted type."""
        plan = self.plan(wanted)
        for place, function in enumerate(plan, 1):
            if function.name in self.supply.called:
                continue
            output = self.output_of(function, wanted if place == len(plan) else "any")
            if len(plan) == 1:
                output = self.for_all_values(function, output)
            self.supply.outputs.append(output)
        return self.result(wanted)

    def plan(self, wanted: str) -> list[Signature]:
        """The functions that the text names in its order, or one that gives what is wanted."""
        functions = [one for one in self.signatures if one.kind != "type"]
        named = filter(self.filling.is_mentioned, functions)
        ordered = sorted(named, key=lambda one: mention(self.reading.text, one.name))
        leading = [one for one in functions if self.filling.leads_to(one.result, wanted)]
        return ordered or leading[:1]

    def output_of(self, function: Signature, wanted: str) -> Made:
        """A call of the function, over a list where it takes the items of one."""
        if self.filling.leads_to(f"[{function.result}]", wanted):
            mapped = self.mapped(function)
            if mapped is not None:
                return mapped
        made = self.filling.call(function, self.supply)
        return made or self.filling.plausible_call(function, self.supply)

    def mapped(self, function: Signature) -> Made | None:
        """The function over each item of a list, where its parameter takes one of them."""
        for parameter in function.parameters:
            over = self.list_for(parameter) if parameter.is_required else None
            if over is None:
                continue
            item = Made({"$ref": "item"}, item_of(over.type) or "any")
            trial = self.supply.copy()
            trial.outputs = [item, *(one for one in trial.outputs if one is not over)]
            trial.values = [one for one in trial.values if one is not over.program]
            body = self.filling.call(function, trial)
            if body is None or item in trial.outputs:
                continue
            self.supply.become(trial)
            loop = {"over": over.program, "as": "item", "do": body.program}
            return Made({"$map": loop}, f"[{body.type}]")
        return None

    def list_for(self, parameter: Parameter) -> Made | None:
        """A list whose items the parameter takes, when there is nothing that it takes as it is."""
        if self.filling.from_supply(parameter, self.supply.copy()) is not None:
            return None
        for output in self.supply.outputs:
            item = item_of(output.type)
            if item is not None and self.filling.leads_to(item, parameter.type):
                return output
        for value in self.supply.values:
            kind = next((kind for kind in SCALARS if takes(f"[{kind}]", value)), None)
            if not is_list(value) or not value or kind is None:
                continue
            if self.filling.argument(parameter, Supply([Made(None, kind)])) is not None:
                return Made(value, f"[{kind}]")
        return None

    def for_all_values(self, function: Signature, first: Made) -> Made:
        """One function and several values: add(add(2, 3), 4), or [double(2), double(3)]."""
        if first.type != function.result:
            return first
        made = [first]
        while len(made) < MOST_CALLS:
            folded = self.further(function, [made[-1]])
            again = folded or self.further(function, [])
            if again is None:
                break
            made = [*made[:-1], folded] if folded else [*made, again]
        if len(made) == 1:
            return made[0]
        return Made([one.program for one in made], f"[{function.result}]")

    def further(self, function: Signature, outputs: list[Made]) -> Made | None:
        """A call that takes these outputs and at least one of the values that are left."""
        trial = self.supply.copy()
        trial.outputs = outputs
        again = self.filling.call(function, trial)
        if again is None or trial.outputs or len(trial.values) == len(self.supply.values):
            return None
        self.supply.become(trial)
        return again

    def result(self, wanted: str) -> Any:
        """Of the outputs that are left, what has the wanted type."""
        outputs = self.supply.outputs
        leads_to = self.filling.leads_to
        if len(outputs) > 1 and wanted == "any":
            return [output.program for output in outputs]
        for output in reversed(outputs):
            if leads_to(output.type, wanted):
                return output.program
        for output in reversed(outputs):
            if is_list(output.program) and leads_to(item_of(output.type) or "", wanted):
                return output.program[0]
        for output in reversed(outputs):
            if wanted in HOPS.get(output.type, ()):
                return output.program
        for item in filter(None, map(item_of, members(wanted))):
            gathered = [output.program for output in outputs if leads_to(output.type, item)]
            if gathered:
                return gathered
        if wanted in SCALARS and not self.supply.called:
            return value_for({"type": wanted}, self.reading)
        return self.filling.plausible(Parameter("", wanted, True), self.supply)
