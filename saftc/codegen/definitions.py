"""Definitions: type aliases, records and functions.

    f area(radius: float, unit = "m") -> string:

gives `def area(radius: float, unit: str = "m") -> str:` with its docstring, the copies of outer
names that a call begins with, and the check at its end.
"""

import ast

from saftc.codegen import python as py
from saftc.codegen.annotations import class_def, docstring
from saftc.codegen.blocks import Blocks
from saftc.codegen.comments import breaks_of, lies_in
from saftc.codegen.python import Expression
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


class Definitions(Blocks):
    """The part of the emitter that knows definitions."""

    # Types

    def _type_alias(self, statement: n.TypeAlias) -> None:
        name = statement.name.text
        type_ = self.facts.aliases[name]
        doc = self.module.docs.get(statement)
        if isinstance(statement.schema, n.ObjectSchema) and isinstance(type_, ObjectType):
            for field in statement.schema.fields:
                self.name_classes(field.schema, field.name.text)
            self.write_class(type_, name, doc or "")
            made = self.new_classes.pop()
            if doc and not isinstance(made, ast.ClassDef):
                # An assignment has no docstring.
                self.write("\n".join(f"# {line}".rstrip() for line in doc.split("\n")))
            self.origins.insert(len(self.origins.lines), [made], statement.span)
            self.type_definition(made)
        else:
            self.name_classes(statement.schema, name + "_part")
            target = py.name(self.name_of(statement.name))
            self.alias_of.pop(type_, None)
            value = self.field_annotation(type_, doc)
            if isinstance(type_, UnionType | LiteralType | ListType | TupleType):
                self.alias_of[type_] = name
            self.simple(py.assignment(target, value), statement.span)
        self.written_types.add(name)

    def _record_def(self, statement: n.RecordDef) -> None:
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
        self.origins.insert(len(self.origins.lines), [made], statement.span)
        self.type_definition(made)
        self.written_types.add(name)

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
        if not isinstance(value, ast.List | ast.Dict):
            return value
        # Python shares a default between all records and refuses one that could be changed.
        is_list = isinstance(value, ast.List)
        is_empty = not (value.elts if is_list else value.values)
        factory = (
            self.global_("list" if is_list else "dict")
            if is_empty
            else ast.Lambda(py.parameters([]), value)
        )
        return py.call(self.global_("field"), named=[("default_factory", factory)])

    # Functions

    def _function_def(self, statement: n.FunctionDef) -> None:
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
        name = self.name_of(statement.name)
        head = ast.FunctionDef(name, parameters, [], [], self._returns(facts))
        if self.inner_comments and statement.parameters:
            self._comments_between(head, statement)
        self.headed(head, statement.span)
        outer, self.scope = self.scope, self.facts.names.scopes[statement]
        self.depth += 1
        self._beginning(statement)
        self.depth -= 1
        self.body(statement, statement.body)
        self.depth += 1
        self._ending(statement, facts)
        self.depth -= 1
        self.scope = outer

    def _comments_between(self, head: ast.FunctionDef, statement: n.FunctionDef) -> None:
        """Puts the comments between the parameters into the head."""
        listed = Span(statement.span.start, self.comments.parameters_end(statement))
        inner = [comment for comment in self.inner_comments if lies_in(comment, listed)]
        if not inner:
            return
        self.inner_comments = [c for c in self.inner_comments if c not in inner]
        places = [parameter.span for parameter in statement.parameters]
        self.breaks[head] = breaks_of(places, len(places), inner, self.source)

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

    def _beginning(self, statement: n.FunctionDef) -> None:
        """The docstring, and the copies of outer names that the call begins with."""
        doc = self.module.docs.get(statement)
        if doc is not None:
            line = docstring(doc)
            self.origins.add(line, statement.span)
            self.docstring(line)
        for symbol in self.facts.names.scopes[statement].symbols.values():
            outer = symbol.starts_from
            if outer is None:
                continue
            is_builtin = outer.kind == "builtin"
            value = self.operation(outer.name) if is_builtin else py.name(self.names[outer])
            copy = py.assignment(py.name(self.names[symbol]), value)
            if not symbol.starts_late:
                self.simple(copy, statement.name.span)
                continue
            # The outer name may not have a value by then; it is needed only on some paths.
            unset = py.call(self.global_("suppress"), [self.global_("NameError")])
            self.headed(ast.With([ast.withitem(unset)], []), statement.name.span)
            self.depth += 1
            self.simple(copy, statement.name.span)
            self.depth -= 1

    def _ending(self, statement: n.FunctionDef, facts: FunctionFacts) -> None:
        """What a function does that ends without the value it has declared."""
        declared = facts.declared
        if declared is None or statement not in self.facts.can_fall_through:
            return
        if fit(NIL, declared) != Fit.EXACT:
            checked = self.checked(py.constant(None), declared)
            self.simple(ast.Return(checked), statement.name.span)
