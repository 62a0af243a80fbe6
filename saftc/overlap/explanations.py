"""Explains in words whether each prompt overlaps with others, and if not, why.

explanations_of(plan)     {prompt: Explanation(True, "for the next items of the loop", loop), ...}
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from saftc.effects.effects import Effects
from saftc.overlap.plan import Decision, Plan
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.walk import walk
from saftc.types.types import ANY, FunctionType, members


@dataclass(frozen=True, slots=True)
class Explanation:
    """Says whether and how a prompt may overlap with others, or what prevents this.

    `place` is the node to which the explanation points: the cause, or another member of a group of
    overlapping prompts. `beside` are the further members of the group. If `place` is in another
    script, `source` is the text of that script. `elsewhere` are the explanations for the other
    places that run the prompt. `way_out` says what to write instead.
    """

    may_overlap: bool
    words: str
    place: n.Node
    source: Source | None = None
    beside: tuple[n.Node, ...] = ()
    elsewhere: tuple["Explanation", ...] = ()
    way_out: str | None = None


# A prompt, or a call of a function of another script that sends prompts.
AskingNode = n.Prompt | n.Call


def explanations_of(plan: Plan) -> dict[AskingNode, Explanation]:
    """Maps prompts and calls to their explanations, if the plan has decided about them.

    The prompts are those in loops, in functions called from loops, and in consecutive statements.
    The calls are those of functions that are in other scripts and send prompts. Each place that
    runs a prompt has a separate explanation; places that may overlap come first. In nested loops, a
    prompt may overlap if it may in one of the loops. If it may in none of them, the reason is that
    of the innermost loop.
    """
    by_prompt: dict[AskingNode, list[Decision]] = {}
    for note in sorted(plan.notes, key=lambda note: note.node.span.end - note.node.span.start):
        for prompt in _prompts(note, plan):
            by_prompt.setdefault(prompt, []).append(note)
    found: dict[AskingNode, Explanation] = {}
    for prompt, notes in by_prompt.items():
        first, *others = (_explanation_of(note, prompt, plan) for note in _one_a_place(notes))
        found[prompt] = replace(first, elsewhere=tuple(others))
    return found


def _one_a_place(notes: list[Decision]) -> list[Decision]:
    """Returns the decision that counts for each group of decisions about nested nodes.

    It is the innermost decision that allows overlap, or the innermost one if none does. `notes` are
    all decisions about a prompt, the innermost first.
    """
    nests: list[list[Decision]] = []
    for note in reversed(notes):
        around = (nest for nest in nests if _is_within(note.node, nest[0].node))
        nest = next(around, None)
        if nest is None:
            nests.append([note])
        else:
            nest.append(note)
    chosen = (
        next((one for one in reversed(nest) if one.reason is None), nest[-1]) for nest in nests
    )
    return sorted(chosen, key=lambda note: (note.reason is not None, note.node.span.start))


def _is_within(inner: n.Node, outer: n.Node) -> bool:
    return outer.span.start <= inner.span.start and inner.span.end <= outer.span.end


def _explanation_of(note: Decision, prompt: AskingNode, plan: Plan) -> Explanation:
    if note.reason is not None:
        reason = note.reason
        return Explanation(False, reason.words, reason.node, reason.source, way_out=reason.way_out)
    for group in plan.groups.values():
        if note.node in group and _is_within(prompt, note.node):
            # The explanation points at the other members of the group.
            first, *others = (one for one in group if one is not note.node)
            return Explanation(True, note.words, first, beside=tuple(others))
    return Explanation(True, note.words, note.node)


def _prompts(note: Decision, plan: Plan) -> list[AskingNode]:
    """The prompts that a decision is about, and the calls that send prompts in other scripts.

    They are in the decision's statements, or in the functions that these statements may call.
    """
    if isinstance(note.node, n.ForStmt):
        ahead = plan.loops.get(note.node)
        region: tuple[n.Node, ...] = note.node.body[: ahead.cut] if ahead else note.node.body
    else:
        region = (note.node,)
    functions = plan.effects.functions_in(region)
    own = filter(plan.effects.facts.is_own, sorted(functions, key=lambda one: one.span.start))
    nodes = [*region, *(one for function in own for one in function.body)]
    found = [inner for node in nodes for inner in walk(node)]
    calls = calls_elsewhere(plan.effects, (one for one in found if isinstance(one, n.Call)))
    return [*(one for one in found if isinstance(one, n.Prompt)), *calls]


def calls_elsewhere(effects: Effects, calls: Iterable[n.Call]) -> Iterator[n.Call]:
    """Yields the calls of functions that are in other scripts and send prompts."""
    for call in calls:
        types = members(effects.facts.types.get(call.function, ANY))
        called = [one.definition for one in types if isinstance(one, FunctionType)]
        others = [one for one in called if not effects.facts.is_own(one)]
        if any("asks" in effects.of_function(one) for one in others):
            yield call
