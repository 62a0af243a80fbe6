"""Definitions: type aliases, records and functions.

    f area(radius: float, unit = "m") -> string:

gives `def area(radius: float, unit: str = "m") -> str:` with its docstring, the copies of outer
names that a call begins with, and the check at its end.
"""

import libcst as cst

from saftc.codegen import python as py
from saftc.codegen.annotations import class_def, docstring
from saftc.codegen.blocks import Blocks, above
from saftc.codegen.comments import lies_in, with_comments
from saftc.codegen.python import Expression, Statement
from saftc.semantics.facts import FunctionFacts
from saftc.semantics.relations import Fit, fit
from saftc.semantics.types import (
    NIL,
    ListType,
    LiteralType,
    ObjectType,
    TupleType,
    Type,
    UnionType,
    is_known,
)
from saftc.source import Span
from saftc.syntax import nodes as n
from saftc.syntax.tokens import Comment


class Definitions(Blocks):
    """The part of the emitter that knows definitions."""

    # Types

    def _type_alias(self, statement: n.TypeAlias) -> Statement:
        name = statement.name.text
        type_ = self.facts.aliases[name]
        doc = self.module.docs.get(statement)
        if isinstance(statement.schema, n.ObjectSchema) and isinstance(type_, ObjectType):
            for field in statement.schema.fields:
                self.name_classes(field.schema, field.name.text)
            self.write_class(type_, name, doc or "")
            made = self._class(self.new_classes.pop(), statement.span)
            if doc and not isinstance(made, cst.ClassDef):
                # An assignment has no docstring.
                lines = [py.comment(line.rstrip()) for line in doc.split("\n")]
                made = above(made, [cst.EmptyLine(comment=line) for line in lines])
        else:
            self.name_classes(statement.schema, name + "_part")
            target = py.name(self.name_of(statement.name))
            self.alias_of.pop(type_, None)
            value = self.field_annotation(type_, doc)
            if isinstance(type_, UnionType | LiteralType | ListType | TupleType):
                self.alias_of[type_] = name
            made = self.simple(py.assignment(target, value), statement.span)
        self.written_types.add(name)
        return made

    def _record_def(self, statement: n.RecordDef) -> Statement:
        name = statement.name.text
        facts = self.facts.records[name]
        for field in statement.fields:
            self.name_classes(field.schema, field.name.text)
        entries = [
            (
                py.field_name(field.name.text),
                self.field_annotation(type_, self.module.docs.get(field)),
            )
            for field, type_ in zip(statement.fields, facts.fields.values(), strict=True)
        ]
        frozen = py.call(self.global_("dataclass"), named=[("frozen", py.constant(True))])
        made = class_def(
            self.name_of(statement.name),
            [],
            entries,
            self.module.docs.get(statement, ""),
            [frozen],
            self._record_defaults(statement),
        )
        self.written_types.add(name)
        return self._class(made, statement.span)

    def _record_defaults(self, statement: n.RecordDef) -> dict[str, Expression]:
        """The defaults of a record's fields; an optional field at the end has nil."""
        defaults: dict[str, Expression] = {}
        only_optional = True
        for field in reversed(statement.fields):
            name = py.field_name(field.name.text)
            if field.default is not None:
                defaults[name] = self._field_default(field.default)
            elif isinstance(field.schema, n.OptionalSchema) and only_optional:
                defaults[name] = py.constant(None)
            else:
                only_optional = False
        return defaults

    def _field_default(self, node: n.Expression) -> Expression:
        value = self.emit(node)
        if not isinstance(value, cst.List | cst.Dict):
            return value
        # Python shares a default between all records and refuses one that could be changed.
        factory = (
            py.lambda_(value)
            if value.elements
            else self.global_("list" if isinstance(value, cst.List) else "dict")
        )
        return py.call(self.global_("field"), named=[("default_factory", factory)])

    # Functions

    def _function_def(self, statement: n.FunctionDef) -> cst.FunctionDef:
        facts = self.facts.functions[statement]
        for parameter in statement.parameters:
            self.name_classes(parameter.schema, parameter.name.text)
        self.name_classes(statement.returns, statement.name.text + "_result")
        parameters = py.parameters(
            [
                self._parameter(parameter, type_)
                for parameter, type_ in zip(statement.parameters, facts.parameters, strict=True)
            ]
        )
        returns = self._returns(facts)
        between = self._comments_between(statement)
        outer, self.scope = self.scope, self.facts.names.scopes[statement]
        ending = self._ending(statement, facts)
        body = self.body(statement.body, lambda: self._beginning(statement), ending)
        self.scope = outer
        made = py.function(self.name_of(statement.name), parameters, returns, body)
        self.origins.note(made, statement.span)
        if not between:
            return made
        places = [parameter.span for parameter in statement.parameters]
        return with_comments(made, places, between, self.source)

    def _comments_between(self, statement: n.FunctionDef) -> list[Comment]:
        """The comments between the parameters."""
        if not self.inner_comments or not statement.parameters:
            return []
        listed = Span(statement.span.start, self.comments.parameters_end(statement))
        inner = [comment for comment in self.inner_comments if lies_in(comment, listed)]
        self.inner_comments = [c for c in self.inner_comments if c not in inner]
        return inner

    def _parameter(
        self, parameter: n.Parameter, type_: Type
    ) -> tuple[str, Expression | None, Expression | None]:
        """The name, annotation and default of a parameter."""
        doc = self.module.docs.get(parameter)
        annotation = None
        if parameter.schema is not None or is_known(type_) or doc is not None:
            annotation = self.field_annotation(type_, doc)
        default = self.emit(parameter.default) if parameter.default is not None else None
        return self.name_of(parameter.name), annotation, default

    def _returns(self, facts: FunctionFacts) -> Expression | None:
        if facts.declared is not None:
            return self.annotation(facts.declared)
        if facts.node in self.facts.history.does:
            return py.subscript(self.global_("Result"), self.annotation(facts.gives))
        if facts.gives == NIL:
            return py.constant(None)
        return self.annotation(facts.gives) if is_known(facts.gives) else None

    def _beginning(self, statement: n.FunctionDef) -> list[Statement]:
        """The docstring, and the copies of outer names that the call begins with."""
        made: list[Statement] = []
        doc = self.module.docs.get(statement)
        if doc is not None:
            made.append(self.simple(docstring(doc), statement.span))
        for symbol in self.facts.names.scopes[statement].symbols.values():
            outer = symbol.starts_from
            if outer is None:
                continue
            is_builtin = outer.kind == "builtin"
            value = self.operation(outer.name) if is_builtin else py.name(self.names[outer])
            target = py.name(self.names[symbol])
            copy = self.simple(py.assignment(target, value), statement.name.span)
            if not symbol.starts_late:
                made.append(copy)
                continue
            # The outer name may not have a value by then; it is needed only on some paths.
            unset = py.call(self.global_("suppress"), [self.global_("NameError")])
            made.append(cst.With([cst.WithItem(unset)], py.block([copy])))
            self.origins.note(made[-1], statement.name.span)
        return made

    def _ending(self, statement: n.FunctionDef, facts: FunctionFacts) -> list[Statement]:
        """What a function does that ends without the value it has declared."""
        declared = facts.declared
        if declared is None or statement not in self.facts.can_fall_through:
            return []
        if fit(NIL, declared) == Fit.EXACT:
            return []
        checked = self.checked(py.constant(None), declared)
        line = py.line(py.returned(checked))
        self.origins.note(line, statement.name.span)
        return [line]
