"""Names the classes for object schemas.

    rows: [{id: int, note: string?}] = ...

emits `class Row(TypedDict)`. A class is named after the variable, field or function that has the
schema. Schemas with equal fields share a class.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import assert_never

import libcst as cst

from saftc.check.facts import Facts, Shape
from saftc.check.imports import later_imports
from saftc.check.statements import names_bound
from saftc.codegen import python as py
from saftc.codegen.python import Expression, Statement
from saftc.syntax import nodes as n
from saftc.types.types import (
    CallableType,
    ListType,
    LiteralType,
    MapType,
    ObjectType,
    TupleType,
    Type,
    UnionType,
)


@dataclass(slots=True)
class Classes:
    """The names of a module's types while it is emitted. A shape is the fields of an object type.

    - `names` maps shapes to the names of their classes. `places` maps shapes to the names in the
      script after which their classes are to be named.
    - `pending` are the classes to write above the current statement.
    - `made` are the names of classes that are not in the script.
    - `written` are the names of the types whose definitions have been written.
    - `aliases` maps types to the names that the script gives to them.
    - `imported` maps records that are imported only for annotations to their names.
    """

    facts: Facts
    taken: set[str]
    written: set[str]
    names: dict[Shape, str] = field(default_factory=dict[Shape, str])
    places: dict[Shape, str] = field(default_factory=dict[Shape, str])
    pending: list[Statement] = field(default_factory=list[Statement])
    made: set[str] = field(default_factory=set[str])
    aliases: dict[Type, str] = field(default_factory=dict[Type, str])
    imported: dict[n.RecordDef, str] = field(default_factory=dict[n.RecordDef, str])

    def name_schema(self, schema: n.Schema | None, place: str) -> None:
        """Records that the classes of the object schemas in `schema` are to be named after `place`.

        `place` is a name in the script, such as that of a variable. The classes are written when
        they are first used.
        """
        match schema:
            case n.ObjectSchema():
                type_ = self.facts.schemas[schema]
                if isinstance(type_, ObjectType):
                    self.places.setdefault(type_.fields, place)
                for one in schema.fields:
                    self.name_schema(one.schema, one.name.text)
            case n.ListSchema():
                self.name_schema(schema.item, _one_of(place))
            case n.MapSchema():
                self.name_schema(schema.value, _one_of(place))
            case n.TupleSchema():
                for item in schema.items:
                    self.name_schema(item, _one_of(place))
            case n.FunctionSchema():
                for one in (*schema.parameters, schema.result):
                    self.name_schema(one, _one_of(place))
            case n.UnionSchema():
                for member in schema.members:
                    self.name_schema(member, place)
            case n.OptionalSchema():
                self.name_schema(schema.schema, place)
            case n.NamedSchema() | n.LiteralSchema() | None:
                pass
            case _:
                assert_never(schema)

    def name_result(self, schema: n.Schema | None, function: str) -> None:
        """Names the object schemas in a function's result: `read_invoice` returns an `Invoice`."""
        noun = _given_by(function)
        own = {_class_name(noun), _class_name(_one_of(noun))} if noun else set[str]()
        is_free = bool(noun) and own.isdisjoint(self.taken)
        self.name_schema(schema, noun if is_free else f"{function}_result")

    def new_name(self, type_: ObjectType) -> str:
        """Returns an unused class name for an object type, made from its name in `places`."""
        place = self.places.get(type_.fields)
        text = _class_name(place or "object")
        candidate, number = text, 2
        while candidate in self.taken:
            candidate = f"{text}{number}"
            number += 1
        self.made.add(candidate)
        return candidate

    def take(self) -> list[Statement]:
        """Removes and returns the pending classes."""
        taken, self.pending = self.pending, []
        return taken


# Verbs that are left out at the beginning of a function's name, to get the name of its result.
_VERBS = """
    add analyse analyze as ask answer apply assess build calc calculate check choose classify clean
    collect combine compare compute convert count create decide decode describe determine do
    download draft draw encode estimate evaluate examine explain export extract fetch fill filter
    find fix format gather generate get give group guess identify import infer inspect judge list
    load look lookup make map match measure merge name normalise normalize obtain parse pick plan
    predict prepare process produce pull query rank rate read recognise recognize render resolve
    retrieve rewrite run scan score scrape search select send show solve sort split store suggest
    summarise summarize take tell to transform translate turn update validate verify write
"""
# If one of these words follows the verb, the rest does not name a result.
_NO_NOUNS = """
    a about all an and any as at back both by each every for from in into it next of off on one or
    out over that the them these this those to up via with
"""


def _given_by(function: str) -> str:
    """Returns the words for the result in a function's name, such as `invoice` in `read_invoice`.

    Returns an empty string if there are none.
    """
    first, _, rest = function.strip("_").partition("_")
    if first.lower() not in _VERBS.split():
        return function
    return "" if rest.partition("_")[0].lower() in _NO_NOUNS.split() else rest


def has_alias_form(type_: Type) -> bool:
    """True if annotations refer to a type of this kind by its alias."""
    return isinstance(
        type_, UnionType | LiteralType | ListType | TupleType | MapType | CallableType
    )


def classes_of(module: n.Module, facts: Facts, needed: Iterable[str]) -> Classes:
    """Returns the names of types that are known before any statement has been emitted.

    `needed` are names that the output itself uses. No class gets one of them.
    """
    own = {
        node.name.text for node in module.statements if isinstance(node, n.TypeAlias | n.RecordDef)
    }
    types = {*facts.aliases, *facts.records}
    symbols = (symbol for scope in facts.names.scopes.values() for symbol in scope.symbols.values())
    later = names_bound(later_imports(module))
    # The types of other modules count as defined above, unless their modules are imported below.
    written = {name for name in types - own if name.split(".")[0] not in later}
    taken = types.union(needed, (symbol.name for symbol in symbols))
    classes = Classes(facts, taken, written)
    for text, type_ in facts.aliases.items():
        if has_alias_form(type_):
            classes.aliases[type_] = text
        elif isinstance(type_, ObjectType):
            classes.names.setdefault(type_.fields, text)
    return classes


def class_def(
    text: str,
    bases: Sequence[Expression],
    entries: Sequence[tuple[str, Expression]],
    doc: str = "",
    kind: str = "",
    decorators: Sequence[Expression] = (),
    defaults: dict[str, Expression] | None = None,
    methods: Sequence[cst.FunctionDef] = (),
) -> cst.ClassDef:
    """A class whose body has annotated names, and methods below them.

    `kind` is the name of the type in Saft, which `type(x)` returns. It is empty if the class has
    the same name.
    """
    body: list[cst.BaseSmallStatement] = [docstring(doc)] if doc else []
    if kind:
        body.append(py.assignment(py.name("__saft_kind__"), py.constant(kind)))
    body += [py.annotated(py.name(key), type_, (defaults or {}).get(key)) for key, type_ in entries]
    if not body and not methods:
        body.append(cst.Pass())
    return py.class_(text, bases, body, decorators, methods)


def docstring(text: str) -> cst.Expr:
    """A docstring statement."""
    escaped = text.strip().replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    before = " " if escaped.startswith('"') else ""
    after = "\n" if "\n" in escaped else " " if escaped.endswith('"') else ""
    return cst.Expr(cst.SimpleString(f'"""{before}{escaped}{after}"""'))


def _class_name(place: str) -> str:
    """The name of a class for a name of the script: `UserRows` for `user_rows`."""
    words = [word for word in place.replace(" ", "_").split("_") if word]
    text = "".join(word[0].upper() + word[1:] for word in words)
    return text if text and text.isidentifier() else "Object"


def _one_of(place: str) -> str:
    """Returns the name of one item of a collection: `row` for `rows`."""
    return _singular(place) or place + "_item"


# The singular of English plurals, such as `movie` for `movies`. The table is ours: libraries for
# this take longer to load than a script takes to compile, and change words that are no plurals
# (`bus` to `bu`). Words with unknown endings are not changed.

# Endings of plurals and of their singulars; `=` marks words that are no plurals. The longest match
# counts. Entries that begin with `_` are whole words, in a name of several words.
_TABLE = """
    s: ss:= us:= is:= ies:y sses:ss xes:x ches:ch shes:sh zzes:zz uses:us auses:ause ouses:ouse
    cuses:cuse aches:ache eaches:each oaches:oach ovies:ovie ookies:ookie oodies:oodie
    ombies:ombie alories:alorie indices:index vertices:vertex matrices:matrix
    appendices:appendix alyses:alysis theses:thesis crises:crisis diagnoses:diagnosis
    aliases:alias biases:bias atlases:atlas canvases:canvas quizzes:quiz heroes:hero echoes:echo
    vetoes:veto tatoes:tato matoes:mato shelves:shelf wolves:wolf halves:half people:person
    children:child series:= species:= news:= _ties:tie _pies:pie _lies:lie _dies:die _uses:use
    _axes:axis _gases:gas _leaves:leaf _knives:knife _wives:wife _lives:life _men:man
    _women:woman _lens:= _gas:= _yes:= _os:=
"""
_ENDINGS = {plural: one for plural, _, one in (pair.partition(":") for pair in _TABLE.split())}
_LONGEST = max(map(len, _ENDINGS))


def _singular(plural: str) -> str | None:
    """Returns the singular of a name, or None if the name is not a plural."""
    word = f"_{plural}"
    for length in range(min(_LONGEST, len(word)), 0, -1):
        one = _ENDINGS.get(word[-length:])
        if one is not None:
            kept = plural[: len(plural) - len(word[-length:].removeprefix("_"))]
            return None if one == "=" or len(kept + one) < 2 else kept + one
    return None
