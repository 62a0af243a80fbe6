"""Why something stays in order: the place that prevents it, and what is the matter there."""

from dataclasses import dataclass

from saftc.schedule.effects import Effects
from saftc.semantics.failure import of_unknown_type, shown
from saftc.semantics.types import show
from saftc.source import Source
from saftc.syntax import nodes as n

STREAMED = "what `stream` asks for is there piece by piece, in its turn"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something stays in order: the place that prevents it, and how.

    `is_caught`: a `try` around it catches it, and the script goes on. `source` is the text that the
    place stands in, when it is another script. `is_rare`: only huge numbers bring it about.
    """

    node: n.Node
    words: str
    is_caught: bool = True
    source: Source | None = None
    is_rare: bool = False


def of_effect(effects: Effects, node: n.Node) -> Reason:
    """Why a node that has an effect of which others may see something has it."""
    script, place, function = effects.origin_of(node)
    source = None if function is None else effects.facts.sources.get(function)
    return Reason(place, _words(script, place), source=source)


def _words(effects: Effects, node: n.Node) -> str:
    facts = effects.facts
    made = effects.made_by_code(node)
    if made is not None:
        return f"nothing is known of what Python does to make {show(made)}"
    match node:
        case n.Name() if facts.names.of(node).kind == "builtin":
            match node.text:
                case "input":
                    return "`input` waits for the user"
                case "print" | "write" as name:
                    return f"`{name}` of another script does not wait for its turn"
                case "run":
                    return "`run` may do anything"
                case name:
                    return f"`{name}` has to wait for what stands before it"
        case n.Name() | n.Member():
            return f"nothing is known of what {shown(node)} of Python does"
        case n.Call() if not effects.is_looking(node):
            return f"nothing is known of {shown(node.function)}, which is called here"
        case n.Prompt(is_streamed=True):
            return STREAMED
        case n.Prompt():
            for part in node.parts:
                if isinstance(part, n.Hole) and effects.shows_unknown(part.value):
                    return f"{of_unknown_type(part.value)}, and might be a function for the model"
            return "nothing is known of a function that it shows to the model"
        case _:
            return "nothing is known of what Python does with a value here"
