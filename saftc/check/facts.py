"""What semantics found out, in tables beside the tree: this is all that codegen reads.

`types` and `coercions` say what an expression is and what its place does with it; `forms` which way
of writing a construct in Python does what Saft means (see `forms`). The emitter asks for these and
decides nothing from types that a form says.
"""

from collections import ChainMap
from collections.abc import Mapping
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
    """What a place does with the value of an expression so that it is of type `wanted`."""

    fit: Assignability
    wanted: Type


@dataclass(slots=True)
class FunctionFacts:
    """What a function takes and gives.

    `parameters` are the types a call has to meet: declared ones, and for bare parameters what
    their use asks for (`ANY` when it asks for nothing). `gives` grows while types are inferred.
    `can_lack_value`: the function can end without a `ret` although it declares another type.
    `from_calls`: by position, the bare parameters that are what the calls in the script pass, with
    the arguments that have said so.
    """

    node: n.FunctionDef
    parameters: tuple[Type, ...]
    declared: Type | None
    gives: Type = NEVER
    can_lack_value: bool = False
    from_calls: dict[int, list[n.Expression]] = field(default_factory=dict[int, list[n.Expression]])

    @property
    def returns(self) -> Type:
        """The type of a call's value."""
        return self.gives if self.declared is None else self.declared


@dataclass(slots=True)
class RecordFacts:
    """The fields of a record, in order, with their types.

    A class of Python has other members besides, and comes from a `module`; those of the fields that
    are `by_name` have to be named in a call, and one that `is_open` has and takes more than its
    fields. `choices` are the members of an Enum, whose one field is `value`.

    `copied_by` is what makes a changed copy in Python; None where nothing does.
    One that `is_plain` runs no code of its own when a value is made, compared or shown; if it
    `is_checked`, Python may still refuse to make one.
    """

    node: n.RecordDef
    fields: dict[str, Type]
    is_mixed: bool = False
    bases: tuple[n.RecordDef, ...] = ()
    python: Namespace | None = None
    module: str | None = None
    by_name: frozenset[str] = frozenset()
    is_open: bool = False
    # Whether it is its only field in JSON: a root model.
    is_root: bool = False
    choices: tuple[str, ...] = ()
    is_plain: bool = False
    is_checked: bool = True
    copied_by: CopiedBy | None = "replace"

    @property
    def type(self) -> RecordType:
        """The type of its values."""
        return RecordType(self.node.name.text, self.node, self.is_mixed, self.bases)


@dataclass(slots=True)
class Facts:
    """The tables. `types`: each expression's own type, before its place's coercion."""

    module: n.Module
    names: Names
    history: History = field(default_factory=History)
    # Where names are imported that the script does not use.
    unused_imports: set[Span] = field(default_factory=set[Span])
    # The modules beside the script that it imports.
    siblings: set[str] = field(default_factory=set[str])
    # The whole names of modules that the script names by their place in its package, by where it
    # does, and how it names each.
    module_names: dict[n.Identifier, str] = field(default_factory=dict[n.Identifier, str])
    relative_names: dict[str, str] = field(default_factory=dict[str, str])
    # What imported names are in the sibling script they come from, and whole imported siblings.
    imported: dict[Symbol, Symbol] = field(default_factory=dict[Symbol, Symbol])
    modules: dict[Symbol, "Facts"] = field(default_factory=dict[Symbol, "Facts"])
    # The scripts that it imports, directly or not, by what is known of them, and their texts.
    scripts: list["Facts"] = field(default_factory=list["Facts"])
    script_sources: list[Source] = field(default_factory=list[Source])
    # Those that an import names, by the place where it does.
    named_scripts: dict[n.Identifier, "Facts"] = field(default_factory=dict[n.Identifier, "Facts"])
    # What imported names are in the Python modules that they come from, and whole modules; and the
    # variables that are bound once, with what they are bound to.
    python: dict[Symbol, Declared] = field(default_factory=dict[Symbol, Declared])
    bound_once: dict[Symbol, n.Expression] = field(default_factory=dict[Symbol, n.Expression])
    lasting: dict[Symbol, Type] = field(default_factory=dict[Symbol, Type])
    schemas: dict[n.Node, Type] = field(default_factory=dict[n.Node, Type])
    aliases: dict[str, Type] = field(default_factory=dict[str, Type])
    # Those that the script has a name for.
    records: dict[str, RecordFacts] = field(default_factory=dict[str, RecordFacts])
    # The TypedDicts of Python, with their modules and names.
    python_shapes: Mapping[Shape, tuple[str, str]] = field(
        default_factory=dict[Shape, tuple[str, str]]
    )
    # The modules that records of other scripts come from.
    record_modules: dict[n.RecordDef, str] = field(default_factory=dict[n.RecordDef, str])
    # Those of the script, and behind them those of the scripts that it imports.
    record_facts: ChainMap[n.RecordDef, RecordFacts] = field(
        default_factory=ChainMap[n.RecordDef, RecordFacts]
    )
    functions: ChainMap[n.FunctionDef, FunctionFacts] = field(
        default_factory=ChainMap[n.FunctionDef, FunctionFacts]
    )
    types: dict[n.Node, Type] = field(default_factory=dict[n.Node, Type])
    forms: Forms = field(default_factory=Forms)
    coercions: dict[n.Node, Coercion] = field(default_factory=dict[n.Node, Coercion])
    # Certain functions in places that ask for functions of a type, with what these ask for.
    given_functions: dict[n.Node, Type] = field(default_factory=dict[n.Node, Type])
    prompts: dict[n.Prompt, Type] = field(default_factory=dict[n.Prompt, Type])
    # Prompts, names and calls whose place takes the whole result.
    whole_results: set[n.Expression] = field(default_factory=set[n.Expression])
    symbols: dict[Symbol, Type] = field(default_factory=dict[Symbol, Type])
    declared: dict[Symbol, Type] = field(default_factory=dict[Symbol, Type])
    # The annotations that hold for names where they are assigned without one.
    held: dict[n.Identifier, n.Schema] = field(default_factory=dict[n.Identifier, n.Schema])
    # The shapes of plain objects (dicts) whose fields are read.
    read_shapes: set[Shape] = field(default_factory=set[Shape])
    # The texts that the functions of other scripts are in.
    sources: dict[n.FunctionDef, Source] = field(default_factory=dict[n.FunctionDef, Source])

    @property
    def own_names(self) -> dict[str, Symbol]:
        """The names of the script itself, outside of functions."""
        return self.names.scopes[self.module].symbols

    @property
    def uses_python(self) -> bool:
        """Whether the script, or one that it imports, imports from Python."""
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
        """Whether a function is one of the script, and not of one that it imports."""
        return definition in self.names.scopes

    def is_made_once(self, definition: n.FunctionDef) -> bool:
        """Whether a function is always the same one: it is at the top of its script."""
        return not self.is_own(definition) or definition in self.module.statements

    def lasting_type(self, symbol: Symbol) -> Type:
        """The type of a variable for those that read it from elsewhere."""
        return union((self.declared.get(symbol, NEVER), self.symbols.get(symbol, ANY)))

    def foreign_type(self, symbol: Symbol) -> Type:
        """The type of a name of a sibling script."""
        if symbol.kind == "function" and isinstance(symbol.node, n.FunctionDef):
            return FunctionType(symbol.name, symbol.node, False)
        return self.lasting.get(symbol, ANY)

    def meaning_of(self, symbol: Symbol) -> Symbol:
        """The symbol itself, or for an imported name the one in the sibling script."""
        return self.imported.get(symbol, symbol)

    def member_of_module(self, node: n.Member) -> Symbol | None:
        """The symbol of a sibling script that `module.name` means, if it is one."""
        if not isinstance(node.value, n.Name):
            return None
        sibling = self.modules.get(self.names.of(node.value))
        own = None if sibling is None else sibling.own_names.get(node.name.text)
        if sibling is None or own is None:
            return None
        # A function that it imports is that of the script which it comes from.
        meaning = sibling.meaning_of(own)
        return meaning if meaning.kind == "function" else own

    def equals_as_python(self, left: Type, right: Type) -> bool:
        """Whether Python's `==` gives what Saft's does (see `python_equality_is_exact`)."""
        return python_equality_is_exact(left, right, self._is_loose)

    def contains_as_python(self, item: Type, container: Type) -> bool:
        """Whether Python's `in` certainly gives what Saft's does."""
        return operate("in", item, container).is_proved and all(
            # In a list or a tuple: there Python finds a NaN that is the same one.
            self.equals_as_python(TupleType((item,)), TupleType((_element_of(owner),)))
            for owner in members(container)
        )

    def adds_alike(self, node: n.Binary) -> bool:
        """Whether Python's `x += y` does what `x + y` does here; a list it changes in place."""
        is_native = self.forms.operators[node] == Form.NATIVE
        return is_native and is_only(self.type_of(node.left), "int", "float", "string")

    def declared_by_python(self, node: n.Expression) -> Declared | None:
        """What an expression is of Python, as far as that says more than its type."""
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
        """The members of a value, a class or a module of Python."""
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
        """The type of an expression of Python, as far as that is known."""
        found = self.declared_by_python(node)
        return found.type if isinstance(found, Value) else ANY

    def record_of(self, node: n.Expression) -> RecordFacts | None:
        """The record that a name means, or a member of a module, if it means one."""
        match node:
            case n.Name():
                definition = self.meaning_of(self.names.of(node)).node
                known = self.records.get(node.text)
                # Another type may have the name, which is a mistake of its own.
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
        """The Enum that a name means, if it means one."""
        known = self.record_of(node)
        return known if known is not None and known.choices else None

    def is_imported(self, node: n.Expression) -> bool:
        """Whether `node` is an imported name, or a member of one: Python's own to know."""
        while isinstance(node, n.Member):
            node = node.value
        return isinstance(node, n.Name) and self.names.of(node).kind == "import"

    def _is_loose(self, record: RecordType) -> bool:
        """Whether a field of a record, or of those in it, may hold a bool in one and a number in
        another, or a NaN."""
        fields = (
            TupleType((type_,))
            for one in self.records_in(record)
            for type_ in self.fields_of(one).values()
        )
        return not all(python_equality_is_exact(one, one, lambda _: False) for one in fields)

    def records_in(self, type_: Type) -> set[RecordType]:
        """The records that a value of `type_` may be or hold, also in the fields of others."""
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
        """Whether a record has the member as data, and not as code of Python: a field, or the name
        of an Enum's member."""
        known = self._facts_of(record)
        is_enum = known is not None and bool(known.choices)
        return name in self.fields_of(record) or (is_enum and name == "name")

    def name_of_record(self, definition: n.RecordDef) -> str | None:
        """What the script calls a record, if it has a name for it."""
        name = definition.name.text
        named = self.records.get(name)
        if named is not None and named.node is definition:
            return name
        return next((one for one, facts in self.records.items() if facts.node is definition), None)

    def record_of_kind(self, word: str) -> str | None:
        """What the script calls the one record of this kind, if it has a name for it."""
        named = {one.node: name for name, one in self.records.items() if one.type.name == word}
        return next(iter(named.values())) if len(named) == 1 else None

    def field_type(self, type_: Type, name: str) -> Type | None:
        """The type of the field `name` of an object or record of `type_`, if it has one."""
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
        """The module that a record of another script, or of Python, comes from."""
        known = self.record_facts.get(definition)
        module = None if known is None else known.module
        return self.record_modules[definition] if module is None else module

    def script_of_record(self, definition: n.RecordDef) -> "Facts | None":
        """The facts of the imported script that defines a record."""
        return next((one for one in self.scripts if definition in one.module.statements), None)

    def note_module(self, written: n.Identifier, name: str) -> None:
        """Notes the whole name of a module that an import names."""
        if written.text != name:
            self.module_names[written] = name
            self.relative_names[name] = written.text

    def module_meant(self, written: n.Identifier) -> str:
        """The whole name of the module that an import names."""
        return self.module_names.get(written, written.text)

    def is_of_python(self, record: RecordType) -> bool:
        """Whether a record is a class of Python, of which a value may be one that changes."""
        known = self._facts_of(record)
        return known is not None and known.module is not None

    def _facts_of(self, record: RecordType) -> RecordFacts | None:
        return None if record.definition is None else self.record_facts.get(record.definition)

    def is_method(self, node: n.Expression) -> bool:
        """Whether `node` is a member that Python knows of a value, and no field of it."""
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
        """Whether a name is bound to a whole result at `node`, and not to its value."""
        return self.history.binding(node, self.names) in self.history.does

    def result_of(self, node: n.Expression) -> Keeper | n.Prompt | None:
        """The name, function or prompt whose result `node` is, if a history can be asked of it."""
        if isinstance(node, n.Prompt):
            return node
        source = self.history.source(node, self.names)
        return source if source in self.history.can else None

    def is_untyped_result(self, node: n.Expression) -> bool:
        """Whether `node` is a result of a prompt that no place asks for a type: its text may stand
        for a structure.
        """
        source = self.result_of(node)
        return isinstance(source, n.Prompt) or source in self.history.untyped

    def asks_history(self, node: n.Member) -> bool:
        """Whether `node` asks a result for its history, and not its value for a field."""
        if node.name.text not in MEMBERS or self.result_of(node.value) is None:
            return False
        value = self.types.get(node.value, ANY)
        return not any(self.has_field(member, node.name.text) for member in members(value))

    def type_of(self, node: n.Node) -> Type:
        """The type of an expression at its place, after the place's coercion."""
        coercion = self.coercions.get(node)
        return self.types.get(node, ANY) if coercion is None else coercion.wanted

    def place_without_history(self, node: n.Node) -> Type | None:
        """The function type that the place of a function asks for, if the function gives a whole
        result, with its history: a value of a function type gives a value."""
        wanted = self.given_functions.get(node)
        given = () if wanted is None else members(self.types[node])
        functions = [one.definition for one in given if isinstance(one, FunctionType)]
        return wanted if any(one in self.history.does for one in functions) else None

    def item_of(self, loop: n.ForStmt | n.ComprehensionClause) -> Type:
        """What each turn of a loop takes."""
        part = self.forms.parts.get(loop)
        return item_type(self.type_of(loop.iterable)) if part is None else part

    def draft_of(self, type_: Type, around: tuple[Type, ...] = ()) -> Type:
        """What there is of a value while a model writes it: an object of the fields of a record or
        an object, each nil until it has come. A list has its finished items, others are whole.
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
        """Whether a record is no object in JSON: a member of an Enum."""
        known = self._facts_of(record)
        return known is None or record.is_mixed or bool(known.choices)


def _element_of(type_: Type) -> Type:
    if isinstance(type_, ObjectType | MapType):
        return keys_of(type_)
    return item_type(type_) if isinstance(type_, ListType | TupleType) else STRING
