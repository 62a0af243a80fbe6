"""Explains why a prompt stays in order if no loop and no group decides about it.

    title = $ A title for {paper} $         in order, as `print` is between it and the next
    print(title)                            prompt
    motto = $ A motto for {paper} $

The reason for each prompt is the code around it, the code beside it, or the callers of its
function.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from saftc.check.statements import blocks_of, bound_by
from saftc.overlap.explanations import Explanation
from saftc.overlap.plan import Plan
from saftc.syntax import nodes as n
from saftc.syntax.walk import children, nodes_of, walk
from saftc.types.types import FunctionType, LiteralType, UnionType, members

AskingNode = n.Prompt | n.Call
_NOTHING_BESIDE = "there is no other prompt beside it"
_LEFT_TO_RIGHT = "one expression sends its prompts one by one, from left to right"
_LOOKED_AT = "the values in its prompt are read in order, as that may fail or read files"
_NAME_EACH = "give each answer a name, one directly below the other"


class LonePrompts:
    """Explains the prompts and calls of a module about which the overlap plan has no decision."""

    def __init__(self, plan: Plan) -> None:
        self.effects = plan.effects
        self.flow = plan.effects.flow
        self.module = plan.effects.facts.module
        # The prompts and calls in an expression, by the expression.
        self._asking: dict[n.Node, list[AskingNode]] = {}
        self._around = {part: node for node in nodes_of(self.module) for part in children(node)}

    def of(self, node: AskingNode) -> Explanation:
        """The explanation for a prompt, or for a call that sends prompts."""
        function = self._function_around(node)
        inside = self._inside(node)
        if inside is not None or function is None:
            return inside or _told(_NOTHING_BESIDE, node)
        first, *others = self._called(function)
        return replace(first, elsewhere=tuple(others))

    # What is around it

    def _inside(self, node: AskingNode) -> Explanation | None:
        """Why a prompt or call stays in order within its function, or within the top level.

        Returns None if nothing else there sends prompts.
        """
        inner: n.Node = node
        while not isinstance(inner, n.FunctionDef | n.Module):
            around = self._around[inner]
            match around:
                case n.WhileStmt():
                    words = "each iteration of `while` may need the one before"
                    return _told(words, around, "loop over a list with `for`")
                case n.RecordDef() | n.Parameter():
                    words = "the prompt of a default is sent when the default is needed"
                    return _told(words, around, "give it a name above")
                case _:
                    pass
            if isinstance(inner, n.Statement):
                found = self._among(inner, self._block(around, inner))
                if found is not None:
                    return found
            elif isinstance(around, n.Statement) and self._asks_besides(inner, node):
                return _told(_LEFT_TO_RIGHT, around, _NAME_EACH)
            inner = around
        return None

    def _block(self, around: Any, inner: n.Statement) -> Sequence[n.Statement]:
        match around:
            case n.Module():
                return around.statements
            case n.FunctionDef() | n.Branch():
                return around.body
            case _:
                return next((one for one in blocks_of(around) if inner in one), (inner,))

    def _asks_besides(self, top: n.Node, node: AskingNode) -> bool:
        """Whether the expression `top`, which contains `node`, sends prompts outside of `node`."""
        if top not in self._asking:
            found = (one for one in walk(top) if isinstance(one, AskingNode))
            self._asking[top] = [one for one in found if self._asks(one)]
        own = set(walk(node))
        around: n.Node = node
        while around is not top:
            around = self._around[around]
            own.add(around)
        return any(one not in own for one in self._asking[top])

    def _asks(self, *nodes: n.Node) -> bool:
        return "asks" in self.effects.of(*nodes)

    # What is beside it

    def _among(self, statement: n.Statement, block: Sequence[n.Statement]) -> Explanation | None:
        """Why a statement does not overlap with the nearest one in its block that sends prompts.

        Returns None if no other statement of the block sends prompts.
        """
        place = block.index(statement)
        asking = [i for i, one in enumerate(block) if i != place and self._runs_asking(one)]
        above = max((i for i in asking if i < place), default=None)
        below = min((i for i in asking if i > place), default=None)
        if above is None and below is None:
            return None
        if above is None or (below is not None and place - above > below - place):
            assert below is not None
            first, other = place, below
        else:
            first, other = above, place
        one, two = block[first], block[other]
        needed = self.flow.read(two) & self.flow.assigned([one])
        if needed:
            names = " and ".join(sorted(f"`{symbol.name}`" for symbol in needed))
            if other == place:
                return _told(f"it needs {names}", one, "ask for both in one prompt")
            return _told(f"the next prompt needs {names}", two, "ask for both in one prompt")
        if other - first > 1:
            words = "this is between it and the next prompt"
            return _told(words, block[first + 1], "put the prompts directly below each other")
        beside = block[first] if other == place else block[other]
        if not all(isinstance(each, n.AssignStmt | n.DestructureStmt) for each in (one, two)):
            words = "only prompts and calls whose answers get names run concurrently"
            return _told(words, beside, _NAME_EACH)
        told = self._told_of_names(one) or self._told_of_names(two)
        return told or _told(_LOOKED_AT, two, "give it a name above both")

    def _told_of_names(self, statement: n.Statement) -> Explanation | None:
        """Why the variable that gets an answer prevents overlap. Returns None if it does not."""
        facts = self.effects.facts
        for name in bound_by(statement):
            if facts.keeps_history(name):
                words = f"`{name.text}` holds the whole result, with its history"
                return _told(words, statement, "bind its value alone")
        match statement:
            case n.AssignStmt(value=n.Prompt() as asked, name=name):
                if isinstance(facts.prompts.get(asked), UnionType | LiteralType):
                    words = f"`{name.text}` has one of several types"
                    return _told(words, statement, "move the prompt into a function")
            case _:
                pass
        return None

    def _runs_asking(self, statement: n.Statement) -> bool:
        return "asks" in self.effects.of_run(statement)

    # Who calls its function

    def _function_around(self, node: n.Node) -> n.FunctionDef | None:
        while not isinstance(node, n.FunctionDef | n.Module):
            node = self._around[node]
        return node if isinstance(node, n.FunctionDef) else None

    def _called(self, function: n.FunctionDef) -> list[Explanation]:
        """The explanations for the prompts of a function, one for each call of the function."""
        name = function.name.text
        if name == "main" and not function.parameters:
            return [_told(_NOTHING_BESIDE, function.name)]
        found = [self._told_of_call(one, function) for one in self._calls.get(function, ())]
        if found:
            return list(dict.fromkeys(found))
        if function in self._called_by_models:
            return [_told(f"`{name}` is a tool: the model decides when it runs", function.name)]
        words = f"nothing in this script calls `{name}`"
        return [_told(words, function.name, "see `saftc prompts` of a script that does")]

    def _told_of_call(self, call: n.Call, function: n.FunctionDef) -> Explanation:
        words = f"there is no other prompt beside the call of `{function.name.text}`"
        return self._inside(call) or _told(words, call)

    @cached_property
    def _called_by_models(self) -> set[n.FunctionDef]:
        return self.effects.functions_in(nodes_of(self.module, n.Prompt))

    @cached_property
    def _calls(self) -> Mapping[n.FunctionDef, Sequence[n.Call]]:
        found = defaultdict[n.FunctionDef, list[n.Call]](list)
        for call in nodes_of(self.module, n.Call):
            types = members(self.effects.facts.type_of(call.function))
            for definition in {one.definition for one in types if isinstance(one, FunctionType)}:
                found[definition].append(call)
        return found


def _told(words: str, place: n.Node, way_out: str | None = None) -> Explanation:
    return Explanation(False, words, place, way_out=way_out)
