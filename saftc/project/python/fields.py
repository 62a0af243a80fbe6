"""The fields that a Python class itself declares, by the kind of class.

    own_fields(node, "dataclass", scope)        [OwnField("id", <int>, has_default=False), ...]

The result is None if a field has options that Saft does not know. Such a class does not become a
type of Saft.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from keyword import iskeyword
from typing import Literal

from saftc.project.python.annotations import AROUND, PLAIN, Meaning, Scope, Variable, quoted
from saftc.types.types import ANY, BOOL, CLASSES_OF_DATES, FLOAT, INT, STRING, Type

Kind = Literal["dataclass", "NamedTuple", "TypedDict", "model", "Enum"]

MAKERS = ("dataclasses.dataclass", "pydantic.dataclass")
_OPTIONS = (
    *("eq", "frozen", "kw_only", "match_args", "order", "repr", "slots", "unsafe_hash"),
    "weakref_slot",
)
_OF_FIELD = ("default", "default_factory", "repr", "hash", "compare", "metadata", "kw_only", "init")
_OF_METHODS = (
    *("builtins.property", "builtins.staticmethod", "builtins.classmethod"),
    "functools.cached_property",
)
_EMPTY = ("builtins.list", "builtins.dict", "builtins.set", "builtins.tuple", "builtins.str")
# Annotations of a model's field that run no code.
_TOLD = (
    *("builtins.bool", "builtins.float", "builtins.int", "builtins.str", "builtins.list"),
    *("builtins.dict", "builtins.tuple", "types.NoneType", "typing.Any"),
    *("typing.List", "typing.Dict", "typing.Tuple", "typing.Optional", "typing.Union"),
    *(name for name in PLAIN if name.startswith("pydantic.")),
)
# Pydantic's factories of constrained types.
_CONSTRAINED = tuple(f"pydantic.con{of}" for of in ("date", "decimal", "float", "int", "str"))
# Descriptions of the values of a field or of a model.
_CONSTRAINTS = (
    *_CONSTRAINED,
    *("pydantic.ConfigDict", "pydantic.Field", "pydantic.StringConstraints"),
)
# Options that make a model accept other names than those of its fields.
_RENAMING = ("alias", "populate_by_name", "validate_by_name", "extra")


@dataclass(frozen=True, slots=True)
class OwnField:
    """A field that a class declares.

    With `may_lack`, values without the field are valid. With `is_by_name`, the constructor takes
    the field only by name. Without `is_parameter`, the constructor does not take the field at all.
    """

    name: str
    annotation: ast.expr
    has_default: bool = False
    is_by_name: bool = False
    is_parameter: bool = True
    may_lack: bool = False


def own_fields(node: ast.ClassDef, kind: Kind, scope: Scope) -> list[OwnField] | None:
    """The fields that a class declares, without inherited ones.

    The result is None if a field has options that Saft does not know.
    """
    match kind:
        case "dataclass":
            return _of_dataclass(node, scope)
        case "NamedTuple":
            return [OwnField(*one[:2], one[2] is not None) for one in _annotated(node)]
        case "TypedDict":
            return _keys(node, scope)
        case "model":
            return _of_model(node, scope)
        case "Enum":
            return []


def dataclass_options(node: ast.ClassDef, scope: Scope) -> dict[str, bool] | None:
    """Maps the arguments of the decorator `dataclass` to whether they are true.

    The result is None if the class does not have the decorator.
    """
    for one in node.decorator_list:
        maker, keywords = (one.func, one.keywords) if isinstance(one, ast.Call) else (one, [])
        if scope(maker) in MAKERS:
            return {str(word.arg): _is_true(word.value) for word in keywords}
    return None


def _is_true(node: ast.expr) -> bool:
    return not (isinstance(node, ast.Constant) and node.value is False)


def _of_dataclass(node: ast.ClassDef, scope: Scope) -> list[OwnField] | None:
    options = dataclass_options(node, scope) or {}
    if not options.keys() <= set(_OPTIONS):
        return None
    is_by_name = options.get("kw_only", False)
    found: list[OwnField] = []
    for name, annotation, value in _annotated(node):
        words = set(_words_around(annotation, scope))
        if "dataclasses.KW_ONLY" in words:
            is_by_name = True
            continue
        if "dataclasses.InitVar" in words:
            return None
        if "typing.ClassVar" in words:
            continue
        field = OwnField(name, annotation, value is not None, is_by_name)
        match value:
            case ast.Call(func=function, args=arguments, keywords=keywords):
                if scope(function) == "dataclasses.field":
                    said = {str(one.arg): _is_true(one.value) for one in keywords}
                    if arguments or not said.keys() <= set(_OF_FIELD):
                        return None
                    field = replace(
                        field,
                        has_default=bool(said.keys() & {"default", "default_factory"}),
                        is_by_name=said.get("kw_only", is_by_name),
                        is_parameter=said.get("init", True),
                    )
                elif scope(function) == "pydantic.Field":
                    return None
            case _:
                pass
        found.append(field)
    return found


def _keys(node: ast.ClassDef, scope: Scope) -> list[OwnField]:
    is_total = all(_is_true(one.value) for one in node.keywords if one.arg == "total")
    found: list[OwnField] = []
    for name, annotation, _ in _annotated(node):
        words = set(_words_around(annotation, scope))
        may_lack = "typing.NotRequired" in words or (
            not is_total and "typing.Required" not in words
        )
        found.append(OwnField(name, annotation, may_lack=may_lack))
    return found


def _of_model(node: ast.ClassDef, scope: Scope) -> list[OwnField]:
    return [
        OwnField(name, annotation, _has_default(annotation, value, scope), is_by_name=True)
        for name, annotation, value in _annotated(node)
        if not name.startswith("_")
        and name != "model_config"
        and "typing.ClassVar" not in _words_around(annotation, scope)
    ]


def _has_default(annotation: ast.expr, value: ast.expr | None, scope: Scope) -> bool:
    match value:
        case None:
            # `Annotated[int, Field(default=3)]`
            inside = annotation.slice if isinstance(annotation, ast.Subscript) else None
            parts = inside.elts[1:] if isinstance(inside, ast.Tuple) else []
            return any(
                isinstance(one, ast.Call) and _has_default(annotation, one, scope) for one in parts
            )
        case ast.Constant(value=None):
            return True
        case ast.Constant(value=given):
            return given is not ...
        case ast.Call(func=function, args=arguments, keywords=keywords):
            if scope(function) != "pydantic.Field":
                return scope(function) is None or not arguments
            named = [one for one in keywords if one.arg in ("default", "default_factory")]
            given = [*arguments[:1], *(one.value for one in named)]
            return any(not (isinstance(one, ast.Constant) and one.value is ...) for one in given)
        case _:
            return True


def renames_parameters(node: ast.ClassDef) -> bool:
    """Whether a model may accept other names than those of its fields."""
    texts = [ast.unparse(one) for one in node.body if not isinstance(one, ast.FunctionDef)]
    texts += [ast.unparse(one) for one in node.keywords]
    return any(word in text for text in texts for word in _RENAMING)


def choices_of(node: ast.ClassDef, scope: Scope, auto: Type) -> dict[str, Type] | None:
    """Maps the members of an Enum to the types of their values.

    `auto` is the type of `auto()`. Returns None if the type of a value is unknown, or if Saft does
    not support a statement in the class.
    """
    found: dict[str, Type] = {}
    for line in node.body:
        match line:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                type_ = _type_of_choice(value, scope, auto)
                if type_ is None or name.startswith("_") or name in found:
                    return None
                found[name] = type_
            case ast.FunctionDef(name=name):
                is_special = name.startswith("_") and name not in ("__str__", "__repr__")
                if is_special or name in ("name", "value"):
                    return None
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                pass
            case _:
                return None
    return found


def _type_of_choice(node: ast.expr, scope: Scope, auto: Type) -> Type | None:
    match node:
        case ast.Constant(value=bool()):
            return BOOL
        case ast.Constant(value=int()):
            return INT
        case ast.Constant(value=float()):
            return FLOAT
        case ast.Constant(value=str()):
            return STRING
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _type_of_choice(operand, scope, ANY)
        case ast.Call(func=function, args=[], keywords=[]) if scope(function) == "enum.auto":
            return auto
        case _:
            return None


def has_plain_body(node: ast.ClassDef, scope: Scope) -> bool:
    """Whether the code of a class runs only when one of its methods is called by name.

    Public methods are called by name. Methods that begin with an underscore may be called by
    Python.
    """
    calls = (one.func if isinstance(one, ast.Call) else one for one in node.decorator_list)
    decorators = set(map(scope, calls))
    return (
        all(_is_data(one.value, scope) for one in node.keywords)
        and decorators <= {"dataclasses.dataclass", "typing.final", "enum.unique"}
        and all(_is_plain(line, scope) for line in node.body)
    )


def _is_plain(line: ast.stmt, scope: Scope) -> bool:
    match line:
        case ast.FunctionDef(name=name, decorator_list=decorators):
            return not name.startswith("_") and set(map(scope, decorators)) <= {*_OF_METHODS}
        case ast.AnnAssign(value=value):
            return value is None or _is_plain_default(value, scope)
        case ast.Assign(targets=[ast.Name(id="model_config")], value=value):
            return _is_data(value, scope)
        case ast.Assign(targets=[ast.Name()], value=value):
            return _type_of_choice(value, scope, ANY) is not None
        case ast.Pass() | ast.Expr(value=ast.Constant()):
            return True
        case _:
            return False


def _is_plain_default(node: ast.expr, scope: Scope) -> bool:
    match node:
        case ast.Call(func=function, args=arguments, keywords=keywords) if scope(function) in (
            "dataclasses.field",
            "pydantic.Field",
        ):
            named = [one.value for one in keywords if not _makes(one, scope)]
            return all(_is_data(one, scope) for one in (*arguments, *named))
        case _:
            return _is_data(node, scope)


def _makes(given: ast.keyword, scope: Scope) -> bool:
    """Whether a field's default is made by the constructor of an empty collection."""
    return given.arg == "default_factory" and scope(given.value) in _EMPTY


def _is_data(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is literal data, which looks up no names and runs no code later."""
    match node:
        case ast.Constant():
            return True
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _is_data(operand, scope)
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return all(_is_data(one, scope) for one in items)
        case ast.Dict(keys=keys, values=values):
            return all(one is not None and _is_data(one, scope) for one in (*keys, *values))
        case ast.Call(func=function, args=arguments, keywords=keywords):
            given = (*arguments, *(one.value for one in keywords))
            return describes(scope(function)) and all(_is_data(one, scope) for one in given)
        case _:
            return False


def describes(meaning: Meaning) -> bool:
    """Whether a call of this class or function only describes a value, or creates a date."""
    if isinstance(meaning, str):
        return meaning in _CONSTRAINTS or meaning.startswith("annotated_types.")
    if meaning is None or isinstance(meaning, Variable):
        return False
    return meaning.value.type in CLASSES_OF_DATES.values()


def is_told(annotation: ast.expr, scope: Scope) -> bool:
    """Whether pydantic alone checks the values of a model's field with this annotation.

    All names in the annotation must be known, and its constraints must be literal data.
    """
    match annotation:
        case ast.Constant(value=None):
            return True
        case ast.Constant(value=str() as text):
            inner = quoted(text)
            return inner is not None and is_told(inner, scope)
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return is_told(left, scope) and is_told(right, scope)
        case ast.Subscript(value=head, slice=inside):
            first, *others = inside.elts if isinstance(inside, ast.Tuple) else [inside]
            match scope(head):
                case "typing.Literal":
                    return True
                case "typing.Annotated":
                    return is_told(first, scope) and all(
                        _is_plain_default(one, scope) for one in others
                    )
                case _:
                    return all(is_told(one, scope) for one in (head, first, *others))
        case ast.Call(func=function):
            return scope(function) in _CONSTRAINED and _is_data(annotation, scope)
        case ast.Name() | ast.Attribute():
            meaning = scope(annotation)
            if meaning is None or isinstance(meaning, str | Variable):
                return meaning in _TOLD
            return meaning.is_told
        case _:
            return False


def methods_of(node: ast.ClassDef) -> Iterator[str]:
    """The names of a class's methods and properties."""
    return (line.name for line in node.body if isinstance(line, ast.FunctionDef))


def script_name(name: str) -> str:
    """The name that scripts use for a field.

    An underscore that only avoids a Python keyword is removed.
    """
    return name[:-1] if name.endswith("_") and iskeyword(name[:-1]) else name


def _annotated(node: ast.ClassDef) -> Iterator[tuple[str, ast.expr, ast.expr | None]]:
    for line in node.body:
        match line:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                yield name, annotation, value
            case _:
                pass


def _words_around(node: ast.expr | None, scope: Scope) -> Sequence[Meaning]:
    """The meanings of the qualifiers in an annotation, outermost first, and of its type."""
    found: list[Meaning] = []
    while node is not None:
        match node:
            case ast.Constant(value=str() as text):
                node = quoted(text)
            case ast.Subscript(value=head, slice=inside):
                found.append(meaning := scope(head))
                word = meaning.split(".")[-1] if isinstance(meaning, str) else ""
                inner = inside.elts[0] if isinstance(inside, ast.Tuple) else inside
                node = inner if word in AROUND else None
            case _:
                found.append(scope(node))
                node = None
    return found
