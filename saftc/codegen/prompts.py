"""Prompts as calls of `prompt`.

    x: [int] = $ compute {square} for {nums}, {limit + 1} at most $

gives

    x = prompt(
        "compute {square} for {nums}, {0} at most",
        limit + 1,
        square=square,
        nums=nums,
        returns=list[int],
    ).value

A text of several lines is written as one, so that it reads and diffs as it does in the script. Its
place in the tree is held by a mark, which the layout replaces when it knows how deep the text
stands.
"""

import keyword
from collections.abc import Sequence

from saftc.codegen import python as py
from saftc.codegen.annotations import Annotations
from saftc.codegen.layout import mark
from saftc.codegen.python import Expression
from saftc.semantics.effects import only_asks
from saftc.semantics.programs import conversions_of
from saftc.semantics.types import STRING, FunctionType, Type
from saftc.syntax import nodes as n

# The parameters of `prompt` and `program`: a name of the script may not be one of them.
_PARAMETERS = {"returns", "fields", "rounds", "options", "conversions", "pure", "template"}


class Prompts(Annotations):
    """The part of the emitter that knows prompts."""

    def prompt(self, node: n.Prompt) -> Expression:
        return py.attribute(self.result(node), "value")

    def result(self, node: n.Prompt) -> Expression:
        """A prompt as the call that gives its whole result."""
        asked = self.facts.prompts[node]
        if node.mode == "program":
            return self._program(node, asked)
        return self._asking(node, [("returns", self.annotation(asked))] if asked != STRING else [])

    def _program(self, node: n.Prompt, asked: Type) -> Expression:
        """A prompt that the model answers with a program, which may use all conversions."""
        wanted = [("returns", self.annotation(asked))]
        scope = self.facts.names.scopes[self.module]
        conversions = {
            name: (py.name(self.names[scope.symbols[name]]), definition)
            for name, definition in conversions_of(self.module, self.facts).items()
        }
        if conversions:
            wanted.insert(0, ("conversions", py.list_([name for name, _ in conversions.values()])))
        asking = {n: made for n, (made, by) in conversions.items() if only_asks(by, self.facts)}
        beside = list({**self._functions_that_only_ask(node), **asking}.values())
        if beside:
            wanted.insert(0, ("pure", py.list_(beside)))
        return self._asking(node, wanted)

    def _functions_that_only_ask(self, node: n.Prompt) -> dict[str, Expression]:
        """The functions of a program whose calls may run together, and are worth it."""
        found: dict[str, Expression] = {}
        for part in node.parts:
            if isinstance(part, n.Hole) and isinstance(part.value, n.Name):
                function = self.facts.types.get(part.value)
                if isinstance(function, FunctionType) and only_asks(
                    function.definition, self.facts
                ):
                    found[part.value.text] = py.name(self.name_of(part.value))
        return found

    def destructured(self, node: n.Prompt, fields: Sequence[n.PatternField]) -> Expression:
        """A prompt that gives the values of a destructuring."""
        types = [
            (
                field.name.text,
                self.field_annotation(
                    self.facts.schemas[field.schema], self.module.docs.get(field)
                ),
            )
            for field in fields
        ]
        return self._asking(node, [("fields", py.dict_(types))])

    def _asking(self, node: n.Prompt, wanted: list[tuple[str, Expression]]) -> Expression:
        template, positional, named = self._template(node)
        named += wanted
        if node.mode == "do":
            named.append(("rounds", py.constant(1)))
        if node.options is not None:
            named.append(("options", self.emit(node.options)))
        function = self.global_("program" if node.mode == "program" else "prompt")
        made = py.call(function, [template, *positional], named)
        self.prompts.add(made)
        self.origins.note(made, node.span)
        return made

    def _template(
        self, node: n.Prompt
    ) -> tuple[Expression, list[Expression], list[tuple[str, Expression]]]:
        """The text with its holes, and the values for them by position and by name."""
        text: list[str] = []
        positional: list[Expression] = []
        named: dict[str, Expression] = {}
        for part in node.parts:
            if isinstance(part, n.PromptText):
                text.append(part.text.replace("{", "{{").replace("}", "}}"))
                continue
            if isinstance(part.value, n.Name):
                hole = keyword_of(part.value.text)
                named.setdefault(hole, self.emit(part.value))
            else:
                hole = str(len(positional))
                positional.append(self.emit(part.value))
            text.append("{" + hole + (":raw}" if part.is_raw else "}"))
        return self._text("".join(text)), positional, list(named.items())

    def _text(self, text: str) -> Expression:
        if "\n" not in text:
            return py.constant(text)
        self.texts.append(text)
        return mark(text, len(self.texts) - 1)


def keyword_of(name: str) -> str:
    """The argument's name for a name of the script; the runtime drops the underscore again."""
    return name + "_" if keyword.iskeyword(name) or name in _PARAMETERS else name
