"""The results of semantic analysis, for code generation: tables whose keys are syntax nodes.

`types` has the type of each expression, and `coercions` the conversion that its context needs.
`forms` has the Python form of each construct (see `saftc.check.forms`). If a construct has a form,
the code generator uses that form and does not decide by types.
"""

from collections import ChainMap
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from saftc.check.forms import CopiedBy, Form, Forms
from saftc.check.history import History, Keeper
from saftc.check.names import Names, Symbol
from saftc.source import Source, Span
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of
from saftc.types.foreign import Declared, Function, Namespace, PythonClass, Value
from saftc.types.operators import operate
from saftc.types.relations import Assignability, python_equality_is_exact
from saftc.types.results import MEMBERS, RECORDS
from saftc.types.types import (
    ANY,
    NEVER,
    NIL,
    STRING,
    FieldType,
    FunctionType,
    ListType,
    MapType,
    ObjectType,
    RecordType,
    TupleType,
    Type,
    UnionType,
    is_only,
    item_type,
    keys_of,
    members,
    union,
    unrolled,
    within,
    without,
)

# The fields of an object, in order.
Shape = tuple[FieldType, ...]


@dataclass(frozen=True, slots=True)
class Coercion:
    """A conversion or check that gives the value of an expression the type `wanted`."""

    fit: Assignability
    wanted: Type


@dataclass(slots=True)
class FunctionFacts:
    """The signature of a function.

    `parameters`: the types that arguments must have. A parameter without a declared type (a bare
    parameter) has the type that its uses require, or `ANY`. `gives`: the inferred result type,
    which grows during inference. `can_lack_value`: the function may end without a `ret`, although
    its declared type excludes nil. `from_calls`: the positions of bare parameters whose types come
    from the calls in the script, each with the arguments that widened the type.
    """

    node: n.FunctionDef
    parameters: tuple[Type, ...]
    declared: Type | None
    gives: Type = NEVER
    can_lack_value: bool = False
    from_calls: dict[int, list[n.Expression]] = field(default_factory=dict[int, list[n.Expression]])

    @property
    def returns(self) -> Type:
        """The type of the value of a call: the declared result type, or else the inferred type."""
        return self.gives if self.declared is None else self.declared


@dataclass(slots=True)
class RecordFacts:
    """A record: its fields, in order, with their types.

    For Python classes only: `module` is the module that defines the class; `python` has the members
    other than fields; `by_name` are the fields that calls must pass by name; `is_open` means that
    the class accepts further fields; `choices` are the members of an Enum, whose only field is
    `value`.

    `copied_by`: the function that makes a changed copy; None if there is none. `is_plain`: no user
    code runs when a value is created, compared or shown. `is_checked`: the creation of a value may
    fail even if all arguments have the right types.
    """

    node: n.RecordDef
    fields: dict[str, Type]
    is_mixed: bool = False
    bases: tuple[n.RecordDef, ...] = ()
    python: Namespace | None = None
    module: str | None = None
    by_name: frozenset[str] = frozenset()
    is_open: bool = False
    # Whether it is a root model of pydantic: a value's JSON is that of its only field.
    is_root: bool = False
    choices: tuple[str, ...] = ()
    is_plain: bool = False
    is_checked: bool = True
    copied_by: CopiedBy | None = "replace"

    @property
    def type(self) -> RecordType:
        """The type of the record's values."""
        return RecordType(self.node.name.text, self.node, self.is_mixed, self.bases)

    @property
    def path(self) -> str:
        """The full name of a Python class."""
        return f"{self.module}.{self.node.name.text}"


@dataclass(slots=True)
class Facts:
    """The results of the analysis of one script.

    `types` has the type of each expression before its coercion.
    """

    module: n.Module
    names: Names
    history: History = field(default_factory=History)
    # The spans of imported names that the script does not use.
    unused_imports: set[Span] = field(default_factory=set[Span])
    # The names of sibling modules that the script imports.
    siblings: set[str] = field(default_factory=set[str])
    # Relative imports: the absolute name for each identifier, and the relative name for each
    # absolute one.
    module_names: dict[n.Identifier, str] = field(default_factory=dict[n.Identifier, str])
    relative_names: dict[str, str] = field(default_factory=dict[str, str])
    # The symbol in the sibling script of each imported name; and the siblings that are imported as
    # modules.
    imported: dict[Symbol, Symbol] = field(default_factory=dict[Symbol, Symbol])
    modules: dict[Symbol, "Facts"] = field(default_factory=dict[Symbol, "Facts"])
    # The scripts that this script imports, directly or not, and their sources.
    scripts: list["Facts"] = field(default_factory=list["Facts"])
    script_sources: list[Source] = field(default_factory=list[Source])
    # The directly imported scripts, by the identifier in the import.
    named_scripts: dict[n.Identifier, "Facts"] = field(default_factory=dict[n.Identifier, "Facts"])
    # The declarations of names that are imported from Python (modules, too), and of variables that
    # are bound only once, to a Python value.
    python: dict[Symbol, Declared] = field(default_factory=dict[Symbol, Declared])
    bound_once: dict[Symbol, n.Expression] = field(default_factory=dict[Symbol, n.Expression])
    lasting: dict[Symbol, Type] = field(default_factory=dict[Symbol, Type])
    schemas: dict[n.Node, Type] = field(default_factory=dict[n.Node, Type])
    aliases: dict[str, Type] = field(default_factory=dict[str, Type])
    # The records that the script can name, by that name.
    records: dict[str, RecordFacts] = field(default_factory=dict[str, RecordFacts])
    # The TypedDicts that Python modules define, with module and name.
    python_shapes: Mapping[Shape, tuple[str, str]] = field(
        default_factory=dict[Shape, tuple[str, str]]
    )
    # The modules that records of other scripts come from.
    record_modules: dict[n.RecordDef, str] = field(default_factory=dict[n.RecordDef, str])
    # The script's own entries first, then those of the scripts that it imports.
    record_facts: ChainMap[n.RecordDef, RecordFacts] = field(
        default_factory=ChainMap[n.RecordDef, RecordFacts]
    )
    functions: ChainMap[n.FunctionDef, FunctionFacts] = field(
        default_factory=ChainMap[n.FunctionDef, FunctionFacts]
    )
    types: dict[n.Node, Type] = field(default_factory=dict[n.Node, Type])
    forms: Forms = field(default_factory=Forms)
    coercions: dict[n.Node, Coercion] = field(default_factory=dict[n.Node, Coercion])
    # The function type that the context wants, for each known function used as a value.
    given_functions: dict[n.Node, Type] = field(default_factory=dict[n.Node, Type])
    prompts: dict[n.Prompt, Type] = field(default_factory=dict[n.Prompt, Type])
    # The prompts, names and calls whose context takes the result with its history.
    whole_results: set[n.Expression] = field(default_factory=set[n.Expression])
    symbols: dict[Symbol, Type] = field(default_factory=dict[Symbol, Type])
    declared: dict[Symbol, Type] = field(default_factory=dict[Symbol, Type])
    # The annotations that unannotated assignments inherit.
    held: dict[n.Identifier, n.Schema] = field(default_factory=dict[n.Identifier, n.Schema])
    # The shapes of plain objects (dicts) whose fields are read.
    read_shapes: set[Shape] = field(default_factory=set[Shape])
    # The sources of functions from other scripts.
    sources: dict[n.FunctionDef, Source] = field(default_factory=dict[n.FunctionDef, Source])

    @property
    def own_names(self) -> dict[str, Symbol]:
        """The names in the script's top-level scope, with their symbols."""
        return self.names.scopes[self.module].symbols

    @property
    def uses_python(self) -> bool:
        """Whether the script, or a script that it imports, imports a Python module."""
        imports = nodes_of(self.module, n.ImportStmt, n.FromImport)
        return any(one.uses_python for one in self.scripts) or any(
            one.module not in self.named_scripts
            and not (
                isinstance(one, n.FromImport)
                and all(imported.name in self.named_scripts for imported in one.names)
            )
            for one in imports
        )

    def is_own(self, definition: n.FunctionDef) -> bool:
        """True if this script defines the function, false if an imported script does."""
        return definition in self.names.scopes

    def is_evaluated_once(self, definition: n.FunctionDef) -> bool:
        """Whether a function's definition runs only once: at the top level of its script."""
        return not self.is_own(definition) or definition in self.module.statements

    def lasting_type(self, symbol: Symbol) -> Type:
        """The type that covers all values of a variable, for reads in other scopes and scripts."""
        return union((self.declared.get(symbol, NEVER), self.symbols.get(symbol, ANY)))

    def foreign_type(self, symbol: Symbol) -> Type:
        """The type of a name that an imported script defines."""
        if symbol.kind == "function" and isinstance(symbol.node, n.FunctionDef):
            return FunctionType(symbol.name, symbol.node, False)
        return self.lasting.get(symbol, ANY)

    def meaning_of(self, symbol: Symbol) -> Symbol:
        """The symbol of an imported name in its own script. Other symbols are returned as is."""
        return self.imported.get(symbol, symbol)

    def member_of_module(self, node: n.Member) -> Symbol | None:
        """The symbol of an imported script that `module.name` refers to, or None."""
        if not isinstance(node.value, n.Name):
            return None
        sibling = self.modules.get(self.names.of(node.value))
        own = None if sibling is None else sibling.own_names.get(node.name.text)
        if sibling is None or own is None:
            return None
        # If the sibling imports a function, return the symbol in the script that defines it.
        meaning = sibling.meaning_of(own)
        return meaning if meaning.kind == "function" else own

    def names_of_module(self, node: n.Expression) -> Collection[str] | None:
        """The public names of the module that an expression refers to; None if it is not one."""
        script = self.modules.get(self.names.of(node)) if isinstance(node, n.Name) else None
        if script is not None:
            return script.own_names.keys()
        declared = self.declared_by_python(node)
        return declared.names() if isinstance(declared, Namespace) else None

    def equals_as_python(self, left: Type, right: Type) -> bool:
        """Whether Python's `==` has the same result as Saft's (see `python_equality_is_exact`)."""
        return python_equality_is_exact(left, right, self._is_loose)

    def contains_as_python(self, item: Type, container: Type) -> bool:
        """Whether Python's `in` certainly has the same result as Saft's."""
        return operate("in", item, container).is_proved and all(
            # In tuples, because in a container Python finds a NaN by identity.
            self.equals_as_python(TupleType((item,)), TupleType((_element_of(owner),)))
            for owner in members(container)
        )

    def adds_alike(self, node: n.Binary) -> bool:
        """Whether `x = x + y` can become `x += y` in Python.

        This is False for lists, because `+=` would mutate the list that `x` refers to.
        """
        is_native = self.forms.operators[node] == Form.NATIVE
        return is_native and is_only(self.type_of(node.left), "int", "float", "string")

    def declared_by_python(self, node: n.Expression) -> Declared | None:
        """The declaration of an expression's value in a Python module, or None if none is found."""
        match node:
            case n.Name():
                symbol = self.names.of(node)
                if symbol in self.bound_once:
                    found = self.declared_by_python(self.bound_once[symbol])
                    return found if isinstance(found, Value) else None
                return self.python.get(symbol)
            case n.Member(value=value, name=name):
                members = self._members_in_python(value)
                return None if members is None else members.find(name.text)
            case n.Call(function=function):
                match self.declared_by_python(function):
                    case PythonClass(given=given):
                        return given
                    case Function() as called:
                        arguments = [(one.name, self.types[one.value]) for one in node.arguments]
                        return called.given(
                            tuple(type_ for name, type_ in arguments if name is None),
                            {name.text: type_ for name, type_ in arguments if name is not None},
                        )
                    case _:
                        return None
            case _:
                return None

    def _members_in_python(self, node: n.Expression) -> Namespace | None:
        """The members of the Python value, class or module that `node` refers to, or None."""
        type_ = self.types.get(node, ANY)
        if isinstance(type_, RecordType):
            known = self._facts_of(type_)
            return None if known is None else known.python
        match self.declared_by_python(node):
            case Namespace() as module:
                return module
            case Value(members=members) | PythonClass(members=members):
                return members
            case _:
                return None

    def type_in_python(self, node: n.Expression) -> Type:
        """The type that Python declares for the value of an expression, or `ANY`."""
        found = self.declared_by_python(node)
        return found.type if isinstance(found, Value) else ANY

    def record_of(self, node: n.Expression) -> RecordFacts | None:
        """The record that a name or a member of a module refers to, or None."""
        match node:
            case n.Name():
                definition = self.meaning_of(self.names.of(node)).node
                known = self.records.get(node.text)
                # If another type has the same name (an error reported elsewhere), it is not this.
                return known if known is not None and known.node is definition else None
            case n.Member():
                own = self.member_of_module(node)
                if own is not None:
                    definition = self.modules[self.names.of(node.value)].meaning_of(own).node
                else:
                    declared = self.declared_by_python(node)
                    is_class = isinstance(declared, PythonClass)
                    definition = declared.definition if is_class else None
                if not isinstance(definition, n.RecordDef):
                    return None
                return self.record_facts.get(definition)
            case _:
                return None

    def enum_of(self, node: n.Expression) -> RecordFacts | None:
        """The Enum that a name or a member of a module refers to, or None."""
        known = self.record_of(node)
        return known if known is not None and known.choices else None

    def is_imported(self, node: n.Expression) -> bool:
        """Whether `node` is an imported name, or a member of an imported name."""
        while isinstance(node, n.Member):
            node = node.value
        return isinstance(node, n.Name) and self.names.of(node).kind == "import"

    def _is_loose(self, record: RecordType) -> bool:
        """Whether Python's `==` may differ from Saft's for a field of a record, at any depth.

        For example, a field may be NaN, or a bool in one value and a number in another (see
        `python_equality_is_exact`).
        """
        fields = (
            TupleType((type_,))
            for one in self.records_in(record)
            for type_ in self.fields_of(one).values()
        )
        return not all(python_equality_is_exact(one, one, lambda _: False) for one in fields)

    def records_in(self, type_: Type) -> set[RecordType]:
        """The records that a value of `type_` may be or contain, at any depth."""
        pending, found = [type_], set[RecordType]()
        while pending:
            for one in within(pending.pop()):
                if isinstance(one, RecordType) and one not in found:
                    found.add(one)
                    pending += self.fields_of(one).values()
        return found

    def fields_of(self, record: RecordType) -> dict[str, Type]:
        """The fields of a record, in order, with their types."""
        if record.definition is None:
            return RECORDS.get(record.name, {})
        known = self.record_facts.get(record.definition)
        return {} if known is None else known.fields

    def is_data(self, record: RecordType, name: str) -> bool:
        """Whether a member of a record is data (a field, or an Enum's `name`), not Python code."""
        known = self._facts_of(record)
        is_enum = known is not None and bool(known.choices)
        return name in self.fields_of(record) or (is_enum and name == "name")

    def name_of_record(self, definition: n.RecordDef) -> str | None:
        """The name that this script has for a record, or None."""
        name = definition.name.text
        named = self.records.get(name)
        if named is not None and named.node is definition:
            return name
        return next((one for one, facts in self.records.items() if facts.node is definition), None)

    def record_of_kind(self, word: str) -> str | None:
        """The name that this script has for the record that is defined under the name `word`.

        Returns None unless exactly one record is defined under that name.
        """
        named = {one.node: name for name, one in self.records.items() if one.type.name == word}
        return next(iter(named.values())) if len(named) == 1 else None

    def field_type(self, type_: Type, name: str) -> Type | None:
        """The type of the field `name` of an object or record, or None without such a field."""
        match type_:
            case ObjectType():
                own = type_.field(name)
                return None if own is None else own.type
            case RecordType():
                field, known = self.fields_of(type_).get(name), self._facts_of(type_)
                if field is not None or known is None or known.python is None:
                    return field
                member = known.python.find(name)
                if member is None:
                    return ANY if known.is_open else None
                return member.type if isinstance(member, Value) else ANY
            case _:
                return None

    def module_of(self, definition: n.RecordDef) -> str:
        """The name of the module that defines a record from another script or from Python."""
        known = self.record_facts.get(definition)
        module = None if known is None else known.module
        return self.record_modules[definition] if module is None else module

    def script_of_record(self, definition: n.RecordDef) -> "Facts | None":
        """The facts of the imported script that defines a record, or None."""
        return next((one for one in self.scripts if definition in one.module.statements), None)

    def note_module(self, written: n.Identifier, name: str) -> None:
        """Records the absolute name of a module that an import names relatively."""
        if written.text != name:
            self.module_names[written] = name
            self.relative_names[name] = written.text

    def module_behind(self, written: n.Identifier) -> str:
        """The absolute name of the module that an import names."""
        return self.module_names.get(written, written.text)

    def is_of_python(self, record: RecordType) -> bool:
        """Whether a record is a Python class.

        The values of a Python class may be mutable, unless the class is an Enum.
        """
        known = self._facts_of(record)
        return known is not None and known.module is not None

    def is_enum(self, record: RecordType) -> bool:
        """Whether a record is a Python Enum."""
        known = self._facts_of(record)
        return known is not None and bool(known.choices)

    def _facts_of(self, record: RecordType) -> RecordFacts | None:
        return None if record.definition is None else self.record_facts.get(record.definition)

    def is_method(self, node: n.Expression) -> bool:
        """Whether `node` is a member that a Python class or module declares, and not a field."""
        if not isinstance(node, n.Member):
            return False
        owner = self.types.get(node.value, ANY)
        if isinstance(owner, RecordType) and node.name.text in self.fields_of(owner):
            return False
        return self.declared_by_python(node) is not None

    def has_field(self, type_: Type, name: str) -> bool:
        """Whether an object or record of `type_` has a field `name`."""
        return self.field_type(type_, name) is not None

    def keeps_history(self, node: n.Name | n.Identifier) -> bool:
        """Whether the name at `node` holds a whole result with its history, not just the value."""
        return self.history.binding(node, self.names) in self.history.does

    def result_of(self, node: n.Expression) -> Keeper | n.Prompt | None:
        """The name, function or prompt that `node` gets a result with its history from, or None."""
        if isinstance(node, n.Prompt):
            return node
        source = self.history.source(node, self.names)
        return source if source in self.history.can else None

    def is_untyped_result(self, node: n.Expression) -> bool:
        """Whether `node` is the result of an untyped prompt, whose text may contain JSON."""
        source = self.result_of(node)
        return isinstance(source, n.Prompt) or source in self.history.untyped

    def asks_history(self, node: n.Member) -> bool:
        """Whether `node` reads a member of a result's history, not a field of the plain value."""
        if node.name.text not in MEMBERS or self.result_of(node.value) is None:
            return False
        value = self.types.get(node.value, ANY)
        return not any(self.has_field(member, node.name.text) for member in members(value))

    def type_of(self, node: n.Node) -> Type:
        """The type of an expression after its coercion, if any."""
        coercion = self.coercions.get(node)
        return self.types.get(node, ANY) if coercion is None else coercion.wanted

    def place_without_history(self, node: n.Node) -> Type | None:
        """The function type that a wrapper for the function `node` must have, or None.

        A wrapper is needed if the function returns a result with its history, but the context wants
        a function that returns the plain value.
        """
        wanted = self.given_functions.get(node)
        given = () if wanted is None else members(self.types[node])
        functions = [one.definition for one in given if isinstance(one, FunctionType)]
        return wanted if any(one in self.history.does for one in functions) else None

    def item_of(self, loop: n.ForStmt | n.ComprehensionClause) -> Type:
        """The type of the value that each turn of a loop gets."""
        part = self.forms.parts.get(loop)
        return item_type(self.type_of(loop.iterable)) if part is None else part

    def draft_of(self, type_: Type, around: tuple[Type, ...] = ()) -> Type:
        """The type of a partial value of `type_` while a model's reply is streamed.

        For a record or an object, the partial value is an object with the same fields. A field is
        nil until it has arrived. Lists have only finished items, and other values arrive whole.
        """
        match type_:
            case ObjectType():
                fields = {one.name: one.type for one in type_.fields}
            case RecordType() if not self._is_one_text(type_):
                fields = self.fields_of(type_)
                known = self._facts_of(type_)
                if known is not None and known.is_root:
                    return self.draft_of(unrolled(fields["root"]), around)
            case UnionType() if NIL in type_.members and len(type_.members) == 2:
                return union((self.draft_of(without(type_, NIL), around), NIL))
            case _:
                return type_
        if type_ in around:
            return ANY
        inside = (*around, type_)
        drafts = {name: self.draft_of(unrolled(one), inside) for name, one in fields.items()}
        return ObjectType(
            tuple(FieldType(name, union((one, NIL))) for name, one in drafts.items()),
            is_declared=False,
        )

    def _is_one_text(self, record: RecordType) -> bool:
        """Whether a value of a record arrives whole from a model, not field by field.

        For example, the members of an Enum are plain values in JSON, not objects with fields. A
        record without known fields counts, too.
        """
        known = self._facts_of(record)
        return known is None or record.is_mixed or bool(known.choices)


def _element_of(type_: Type) -> Type:
    if isinstance(type_, ObjectType | MapType):
        return keys_of(type_)
    return item_type(type_) if isinstance(type_, ListType | TupleType) else STRING
