"""What a plan means for each prompt, in words.

told(plan(facts))         {prompt: Told(True, "for the next items of the loop"), ...}
"""

from dataclasses import dataclass

from saftc.schedule.plan import Note, Plan
from saftc.source import Source
from saftc.syntax import nodes as n
from saftc.syntax.walk import walk


@dataclass(frozen=True, slots=True)
class Told:
    """Whether a prompt may overlap with others, and how; if not, why and which place is why.

    `source` is the text that the place stands in, when it is another script.
    """

    may_overlap: bool
    words: str
    place: n.Node
    source: Source | None = None


def told(plan: Plan) -> dict[n.Prompt, Told]:
    """What was decided about the prompts that stand in loops, in functions called there, or side
    by side; of others there is nothing to be decided.

    A prompt that may overlap in one place may; else the reason of the innermost loop counts.
    """
    found: dict[n.Prompt, Told] = {}
    notes = sorted(plan.notes, key=lambda note: note.node.span.end - note.node.span.start)
    for note in sorted(notes, key=lambda note: note.reason is not None):
        for prompt in _prompts(note, plan):
            if note.reason is None:
                found.setdefault(prompt, Told(True, note.words, note.node))
            else:
                why = note.reason
                found.setdefault(prompt, Told(False, why.words, why.node, why.source))
    return found


def _prompts(note: Note, plan: Plan) -> list[n.Prompt]:
    """The prompts that a note is about: those in its statements, and in the functions called."""
    if isinstance(note.node, n.ForStmt):
        ahead = plan.loops.get(note.node)
        region: tuple[n.Node, ...] = note.node.body[: ahead.cut] if ahead else note.node.body
    else:
        region = (note.node,)
    functions = plan.effects.functions_in(region)
    nodes = [*region, *(one for function in functions for one in function.body)]
    return [inner for node in nodes for inner in walk(node) if isinstance(inner, n.Prompt)]
