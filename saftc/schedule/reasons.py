"""Why something stays in order: the place that prevents it, and what is the matter there."""

from dataclasses import dataclass

from saftc.schedule.effects import Effects
from saftc.semantics.facts import Facts
from saftc.semantics.types import ANY, show
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


def of_unknown_type(node: n.Expression) -> str:
    """That a value is of unknown type, in words."""
    return f"{shown(node)} is of unknown type"


def may_be_wrong(facts: Facts, node: n.Expression, words: str) -> str:
    """That a value may not be what is asked for: because its type is not known, maybe."""
    if facts.types.get(node, ANY) == ANY:
        return f"{of_unknown_type(node)}: it {words}"
    return f"{shown(node)} {words}"


def shown(node: n.Expression) -> str:
    """How a value is called in words: "`mail.name`", or what it is."""
    path = _path(node)
    if path is not None:
        return f"`{path}`"
    match node:
        case n.Prompt():
            return "the answer"
        case n.Call(function=function) if _path(function) is not None:
            return f"what `{_path(function)}` gives"
        case n.Binary() | n.Unary() | n.Comparison() | n.Logical():
            return f"what `{node.operator}` gives"
        case n.ListLiteral() | n.Comprehension():
            return "the list"
        case n.FormattedString():
            return "the text"
        case _:
            return "a value"


def _path(node: n.Expression) -> str | None:
    """The text of a name, or of a part of what a name holds."""
    match node:
        case n.Name():
            return node.text
        case n.Literal(value=int() | str() as value):
            return f'"{value}"' if isinstance(value, str) else str(value)
        case n.Member():
            owner, part = _path(node.value), f".{node.name.text}"
        case n.TupleMember():
            owner, part = _path(node.value), f".{node.position}"
        case n.Index():
            key = _path(node.key)
            owner, part = None if key is None else _path(node.value), f"[{key}]"
        case _:
            return None
    return None if owner is None else owner + part
