"""What Python modules declare, as live Python, while nothing of them runs.

    modules = StandIns(originals(folder))
    modules("shop").Order           a class with the bases, the fields and the docstring of `Order`
    modules("shop").find_orders     a function of this signature and docstring, without its body

Classes are made anew of what their modules say, so that the runtime, and pydantic for its models,
says of them what it would say of the originals. Of the calls in annotations and defaults, only
those are made that describe a value: `Field(gt=0)`, `auto()`, `TypeVar("T")`. What cannot be told
without running a module raises NotTold, or stands as any value in a class of which `unknown_in`
then tells.
"""

import ast
import builtins
import dataclasses
import enum
import inspect
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any, ForwardRef, Literal, NewType, cast
from weakref import WeakKeyDictionary

from saftc.project.python.bindings import Bindings, Definition, Imported, Overloads, bindings_of
from saftc.project.python.library import Library, Module

# These only describe types and values; to import them runs nothing of the user's.
_DESCRIBING = frozenset(
    {
        *("abc", "annotated_types", "collections", "collections.abc", "dataclasses", "datetime"),
        *("decimal", "enum", "functools", "pathlib", "pydantic", "types", "typing"),
        *("typing_extensions", "uuid"),
    }
)
# What is called: it describes a value, and takes no text for code.
_CALLED = frozenset(
    {
        *("collections.namedtuple", "dataclasses.dataclass", "dataclasses.field", "enum.auto"),
        "functools.partial",
        *("datetime.date", "datetime.datetime", "datetime.time", "datetime.timedelta"),
        *("decimal.Decimal", "pathlib.Path", "uuid.UUID"),
        *("pydantic.aliases.AliasChoices", "pydantic.aliases.AliasPath"),
        *("pydantic.config.ConfigDict", "pydantic.dataclasses.dataclass"),
        *("pydantic.fields.Field", "pydantic.fields.PrivateAttr"),
        *(f"pydantic.functional_validators.{when}Validator" for when in ("After", "Before")),
        *("pydantic.functional_serializers.PlainSerializer", "pydantic.types.StringConstraints"),
        *(f"pydantic.types.con{of}" for of in ("bytes", "date", "decimal", "float", "int", "str")),
    }
)
# Of these, what is behind the first argument, or all that is given, are types.
_OF_TYPES = {
    **dict.fromkeys(("typing.TypeVar", "typing_extensions.TypeVar", "typing.NewType"), 1),
    **dict.fromkeys((f"pydantic.types.con{of}" for of in ("frozenset", "list", "set")), 0),
}
# What functions and classes may be decorated with and still be described as they are written.
_HARMLESS = frozenset(
    {
        *("abc.abstractmethod", "enum.unique", "functools.cache", "functools.lru_cache"),
        *("functools.total_ordering", "typing.final", "typing.override"),
        *("typing.runtime_checkable", "typing_extensions.final", "typing_extensions.override"),
        *("typing_extensions.deprecated", "builtins.classmethod", "builtins.staticmethod"),
    }
)
_FIELDS = ("dataclasses.field", "pydantic.fields.Field")
_MAKERS = ("dataclasses.dataclass", "pydantic.dataclasses.dataclass")
# With a method of these, a class says itself what it is.
_OWN_WAYS = frozenset(
    {
        *("__get_pydantic_core_schema__", "__get_pydantic_json_schema__", "__class_getitem__"),
        *("__new__", "_generate_next_value_"),
    }
)
_UNBOUND = object()

# What could not be told of a class or function, and the classes that it names.
_unknown: WeakKeyDictionary[Any, list[str]] = WeakKeyDictionary()
_named: WeakKeyDictionary[Any, list[Any]] = WeakKeyDictionary()


class NotTold(AttributeError):
    """What a Python module has under a name is known only when it runs."""


def unknown_in(value: Any) -> list[str]:
    """What could not be told of a stand-in, and of the classes that it is made of, in words."""
    found: dict[str, None] = {}
    pending, seen = [getattr(value, "__func__", value)], set[Any]()
    while pending:
        one = pending.pop()
        if _can_be_key(one) and one not in seen:
            seen.add(one)
            found |= dict.fromkeys(_unknown.get(one, ()))
            pending += reversed(_named.get(one, ()))
    return list(found)


def _can_be_key(value: Any) -> bool:
    return isinstance(value, type | types.FunctionType)


class _Members:
    """A module, of which each member is made when it is asked for."""

    def __init__(self, find: Callable[[str], Any]) -> None:
        self.__find = find

    def __getattr__(self, name: str) -> Any:
        return self.__find(name)


class _Method:
    """A method of a class, made when it is asked for."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make

    def __get__(self, instance: Any, owner: type) -> Any:
        made = self._make()
        if isinstance(made, staticmethod | classmethod):
            bound = cast("Any", made)
            return bound.__get__(instance, owner)
        return made if instance is None else types.MethodType(made, instance)


@dataclasses.dataclass(frozen=True, slots=True)
class _Scope:
    """Where an expression stands: in a module, and there in these classes, the innermost last."""

    module: Module
    classes: tuple[tuple[str, Bindings], ...] = ()

    def below(self, node: ast.ClassDef) -> "_Scope":
        return _Scope(self.module, (*self.classes, (node.name, bindings_of(node.body))))

    def name_of(self, name: str) -> str:
        return ".".join([*(one for one, _ in self.classes), name])


@dataclasses.dataclass(slots=True)
class _Making:
    """A class or function that is being made; `is_open`: it names a class that is, too."""

    unknown: list[str] = dataclasses.field(default_factory=list[str])
    named: list[Any] = dataclasses.field(default_factory=list[Any])
    is_open: bool = False


class StandIns:
    """Finds stand-ins of Python modules, which a library has read as they are written."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._made: dict[tuple[str, str], Any] = {}
        self._classes: list[type] = []
        self._under_way: list[_Making] = []
        self._names_under_way: set[tuple[str, str]] = set()
        self._references = 0
        # The classes that name each other, and constructors: whole when all classes are made.
        self._open: list[tuple[type, ast.ClassDef, _Scope]] = []
        self._constructors: list[tuple[type, Definition, _Scope]] = []

    def __call__(self, name: str) -> Any:
        """A module, whose members raise NotTold where they are not known."""
        if _is_describing(name):
            return _import(name)
        module = self._library.module(name)
        if module is None and name in sys.stdlib_module_names:
            return _import(name)  # written in C
        if module is None:
            return _Members(_not_told)
        return _Members(partial(self._member, module))

    # Names

    def _member(self, module: Module, name: str) -> Any:
        return self._bound(_Scope(module), module.bindings, name)

    def _bound(self, scope: _Scope, bindings: Bindings, name: str) -> Any:
        """What a name is bound to: by the module of the scope, or by its innermost class."""
        key = scope.module.name, scope.name_of(name)
        if key in self._names_under_way:
            return self._reference(bindings, name)
        if key not in self._made:
            self._names_under_way.add(key)
            references = self._references
            try:
                made = self._make(scope, bindings, name)
            except AttributeError:  # also of a module that is imported itself
                made = NotTold(name)
            finally:
                self._names_under_way.discard(key)
            if references != self._references and not isinstance(made, type | NotTold):
                return made  # with a reference in it, and not for others
            self._made[key] = made
            if not self._names_under_way:
                self._close()
        made = self._made[key]
        if isinstance(made, NotTold):
            raise NotTold(name)
        if self._under_way and _can_be_key(made):
            self._under_way[-1].named.append(made)
        return made

    def _reference(self, bindings: Bindings, name: str) -> Any:
        """What stands for a class within itself."""
        if not isinstance(bindings.names.get(name), ast.ClassDef) or not self._under_way:
            raise NotTold(name)
        self._under_way[-1].is_open = True
        self._references += 1
        return ForwardRef(name)

    def _make(self, scope: _Scope, bindings: Bindings, name: str) -> Any:
        match bindings.names.get(name, _UNBOUND):
            case Imported(origin, None):
                return self(origin)
            case Imported(origin, str() as other):
                return getattr(self(origin), other)
            case Overloads((node,)):
                return self._function(node, scope)
            case ast.ClassDef() as node:
                return self._class(node, scope)
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                return self._value(value, scope)
            case ast.AnnAssign(annotation=annotation):
                return self._instance(self._evaluate(annotation, scope))
            case bound if bound is _UNBOUND and not scope.classes:
                return self._elsewhere(scope.module, name)
            case _:
                raise NotTold(name)

    def _elsewhere(self, module: Module, name: str) -> Any:
        """A name that a module does not bind itself."""
        for star in module.bindings.stars:
            try:
                return getattr(self(star), name)
            except AttributeError:
                continue
        if self._library.module(f"{module.name}.{name}") is not None:
            return self(f"{module.name}.{name}")
        raise NotTold(name)

    def _value(self, node: ast.expr, scope: _Scope) -> Any:
        """The value of a variable; one that a class of the user makes is known by its class."""
        if isinstance(node, ast.Call):
            with_class = self._evaluate(node.func, scope)
            if any(with_class is one for one in self._classes):
                return self._instance(with_class)
        return self._evaluate(node, scope)

    def _instance(self, class_: Any) -> Any:
        """A value of a class, of which only the methods are known."""
        if not any(class_ is one for one in self._classes):
            raise NotTold
        try:
            return object.__new__(class_)
        except TypeError:
            raise NotTold from None

    # Expressions

    def _evaluate(self, node: ast.expr, scope: _Scope) -> Any:
        """What an expression gives that only describes; raises NotTold where it may do more."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self._name(name, scope)
            case ast.Attribute(value=value, attr=name):
                return self._attribute(self._evaluate(value, scope), name)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
                return -number
            case ast.Tuple(elts=items):
                return tuple(self._each(items, scope))
            case ast.List(elts=items):
                return list(self._each(items, scope))
            case ast.Set(elts=items):
                return set(self._each(items, scope))
            case ast.Dict(keys=keys, values=values) if None not in keys:
                names = self._each([key for key in keys if key is not None], scope)
                return dict(zip(names, self._each(values, scope), strict=True))
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                first, second = self._type(left, scope), self._type(right, scope)
                return _described(lambda: first | second)
            case ast.Subscript(value=value, slice=inside):
                head = self._evaluate(value, scope)
                part = self._inside(head, inside, scope)
                return _described(lambda: head[part])
            case ast.Call():
                return self._call(node, scope)
            case ast.Lambda():
                return _not_told  # what calls it finds that out
            case _:
                raise NotTold

    def _each(self, nodes: Sequence[ast.expr], scope: _Scope) -> Iterator[Any]:
        return (self._evaluate(node, scope) for node in nodes)

    def _inside(self, head: Any, node: ast.expr, scope: _Scope) -> Any:
        """What stands in brackets: types, or of `Literal` and behind `Annotated[T,` values."""
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        word = _place_of(head).rpartition(".")[2]
        types_ = {"Literal": 0, "Annotated": 1}.get(word, len(parts))
        read = (
            *(self._type(one, scope) for one in parts[:types_]),
            *(self._evaluate(one, scope) for one in parts[types_:]),
        )
        return read if isinstance(node, ast.Tuple) else read[0]

    def _type(self, node: ast.expr, scope: _Scope) -> Any:
        """What an annotation says, also one that is written as a text."""
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            try:
                return self._type(ast.parse(node.value.strip(), mode="eval").body, scope)
            except (SyntaxError, ValueError, RecursionError):
                raise NotTold from None
        if isinstance(node, ast.List):  # of `Callable[[int], str]`
            return [self._type(one, scope) for one in node.elts]
        return self._evaluate(node, scope)

    def _name(self, name: str, scope: _Scope) -> Any:
        for depth in range(len(scope.classes), 0, -1):
            inner = _Scope(scope.module, scope.classes[:depth])
            bindings = scope.classes[depth - 1][1]
            if isinstance(bindings.names.get(name), ast.ClassDef | ast.Assign):
                return self._bound(inner, bindings, name)
        try:
            return self._bound(_Scope(scope.module), scope.module.bindings, name)
        except NotTold:
            if name in scope.module.bindings.names or not hasattr(builtins, name):
                raise
            return getattr(builtins, name)

    def _attribute(self, value: Any, name: str) -> Any:
        if isinstance(value, ModuleType):
            found = getattr(value, name, _UNBOUND)
            if found is _UNBOUND or (
                isinstance(found, ModuleType) and not _is_describing(found.__name__)
            ):
                raise NotTold(name)
            return found
        if isinstance(value, _Members) or _is_enum(value):
            return _described(lambda: getattr(value, name))
        raise NotTold(name)

    def _call(self, node: ast.Call, scope: _Scope) -> Any:
        called = self._evaluate(node.func, scope)
        if isinstance(called, NewType) and len(node.args) == 1:
            return self._evaluate(node.args[0], scope)
        place = _place_of(called)
        plain = _OF_TYPES.get(place, len(node.args))
        if not (place in _CALLED or place in _OF_TYPES or place.startswith("annotated_types.")):
            raise NotTold(place)
        arguments = [
            self._evaluate(one, scope) if i < plain else self._type(one, scope)
            for i, one in enumerate(node.args)
        ]
        named: dict[str, Any] = {}
        for one in node.keywords:
            if one.arg is None:
                raise NotTold(place)
            is_type = one.arg in ("bound", "default", "item_type") and place in _OF_TYPES
            read = self._type if is_type else self._evaluate
            named[one.arg] = read(one.value, scope)
        return _described(lambda: called(*arguments, **named))

    # Functions

    def _function(self, node: Definition, scope: _Scope) -> Any:
        around: list[Any] = []
        for one in node.decorator_list:
            decorator = self._evaluate(_head(one), scope)
            if _place_of(decorator) not in _HARMLESS:
                raise NotTold(node.name)
            if decorator in (staticmethod, classmethod):
                around.append(decorator)

        def declared(*_given: Any, **_named: Any) -> None:
            """Stands for the function, and is never called."""

        making = _Making()
        self._under_way.append(making)
        try:
            annotated = self._parameters(node, scope)
            if node.returns is not None:
                annotated.append(("return", self._type_or_any(node.returns, scope)))
        finally:
            self._under_way.pop()
        declared.__name__ = node.name
        declared.__qualname__ = scope.name_of(node.name)
        declared.__module__ = scope.module.name
        declared.__doc__ = ast.get_docstring(node, clean=False)
        declared.__annotations__ = dict(annotated)
        vars(declared)["__signature__"] = self._signature(node, scope)
        _unknown[declared], _named[declared] = making.unknown, making.named
        made: Any = declared
        for one in around:
            made = one(made)
        return made

    def _parameters(self, node: Definition, scope: _Scope) -> list[tuple[str, Any]]:
        arguments = node.args
        found = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        found += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
        return [
            (one.arg, self._type_told(one.annotation, scope, f"`{one.arg}` of `{node.name}`"))
            for one in found
            if one.annotation is not None
        ]

    def _type_or_any(self, node: ast.expr, scope: _Scope) -> Any:
        try:
            return self._type(node, scope)
        except NotTold:
            return Any

    def _signature(self, node: Definition, scope: _Scope) -> inspect.Signature:
        kinds, arguments = inspect.Parameter, node.args
        in_order = [
            *((one, kinds.POSITIONAL_ONLY) for one in arguments.posonlyargs),
            *((one, kinds.POSITIONAL_OR_KEYWORD) for one in arguments.args),
        ]
        lacking = [None] * (len(in_order) - len(arguments.defaults))
        pairs = [*zip(in_order, [*lacking, *arguments.defaults], strict=True)]
        if arguments.vararg is not None:
            pairs.append(((arguments.vararg, kinds.VAR_POSITIONAL), None))
        named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        pairs += [((one, kinds.KEYWORD_ONLY), default) for one, default in named]
        if arguments.kwarg is not None:
            pairs.append(((arguments.kwarg, kinds.VAR_KEYWORD), None))
        return inspect.Signature(
            [
                inspect.Parameter(one.arg, kind, default=self._default(default, scope))
                for (one, kind), default in pairs
            ]
        )

    def _default(self, node: ast.expr | None, scope: _Scope) -> Any:
        if node is None:
            return inspect.Parameter.empty
        try:
            return self._evaluate(node, scope)
        except NotTold:
            return ...

    # Classes

    def _class(self, node: ast.ClassDef, scope: _Scope) -> Any:
        makers = self._makers(node, scope)
        within = scope.below(node)
        making = _Making()
        self._under_way.append(making)
        try:
            bases = tuple(self._each(node.bases, scope))
            words = {str(one.arg): self._evaluate(one.value, scope) for one in node.keywords}
            if any(isinstance(one, ForwardRef) for one in bases) or "metaclass" in words:
                raise NotTold(node.name)
            body = self._body(node, within, _kind(bases, makers))
        finally:
            self._under_way.pop()

        def write(namespace: Any) -> None:
            for name, value in body.items():
                namespace[name] = value

        def make() -> Any:
            class_: Any = types.new_class(node.name, bases, words, write)
            for one in node.body:
                if isinstance(one, Definition) and not one.name.startswith("__"):
                    setattr(class_, one.name, _Method(partial(self._function, one, within)))
            for decorate in makers:
                class_ = decorate(class_)
            return class_

        class_ = _described(make)
        self._classes.append(class_)
        _unknown[class_], _named[class_] = making.unknown, making.named
        if making.is_open:
            self._open.append((class_, node, within))
        made_by = (one for one in node.body if getattr(one, "name", "") == "__init__")
        self._constructors += [
            (class_, one, within) for one in made_by if isinstance(one, Definition)
        ]
        return class_

    def _makers(self, node: ast.ClassDef, scope: _Scope) -> list[Any]:
        """The decorators that make a dataclass of it, innermost first."""
        found: list[Any] = []
        for one in reversed(node.decorator_list):
            place = _place_of(self._evaluate(_head(one), scope))
            if place in _MAKERS:
                found.append(self._evaluate(one, scope))
            elif place not in _HARMLESS:
                raise NotTold(node.name)
        return found

    def _body(self, node: ast.ClassDef, scope: _Scope, kind: "_Kind") -> dict[str, Any]:
        """What a class has but for its methods."""
        methods = {one.name for one in node.body if isinstance(one, Definition)}
        if methods & _OWN_WAYS or (kind == "Enum" and "__init__" in methods):
            raise NotTold(node.name)
        annotations: dict[str, Any] = {}
        qualname = ".".join(name for name, _ in scope.classes)
        body: dict[str, Any] = {
            "__module__": scope.module.name,
            "__qualname__": qualname,
            "__annotations__": annotations,
        }
        doc = ast.get_docstring(node, clean=False)
        if doc is not None:
            body["__doc__"] = doc
        for line in node.body:
            match line:
                case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                    if kind == "model" and name.startswith("_"):
                        continue  # of the model's own, and no field
                    annotations[name] = self._type_told(
                        annotation, scope, f"`{scope.name_of(name)}`"
                    )
                    if value is not None and kind is not None:
                        body[name] = self._field_value(value, scope, name, kind)
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if kind == "Enum":
                    body[name] = self._evaluate(value, scope)
                case ast.Assign(targets=[ast.Name(id="model_config")], value=value):
                    try:
                        body["model_config"] = self._evaluate(value, scope)
                    except NotTold:
                        self._note_unknown(f"the `model_config` of `{node.name}`")
                case ast.ClassDef(name="Config") if kind == "model":
                    self._note_unknown(f"the `Config` of `{node.name}`")
                case _:
                    pass
        return body

    def _note_unknown(self, what: str) -> None:
        self._under_way[-1].unknown.append(what)

    def _type_told(self, node: ast.expr, scope: _Scope, of: str) -> Any:
        """What an annotation says; any value where that is not told, which is noted."""
        try:
            return self._type(node, scope)
        except NotTold:
            self._note_unknown(f"the type of {of}")
            return Any

    def _field_value(self, node: ast.expr, scope: _Scope, name: str, kind: "_Kind") -> Any:
        """The default of a field, or what is said of it, as far as it is known."""
        try:
            return self._evaluate(node, scope)
        except NotTold:
            pass
        called = self._evaluate_or_none(_head(node), scope)
        if not isinstance(node, ast.Call) or _place_of(called) not in _FIELDS:
            if kind not in ("NamedTuple", "dataclass", "model"):
                raise NotTold(name)
            self._note_unknown(f"the default of `{scope.name_of(name)}`")
            if kind == "NamedTuple":
                return ...
            field = _import("pydantic").Field if kind == "model" else dataclasses.field
            return field(default_factory=_not_told)
        said: dict[str, Any] = {}
        parts = [(one.arg, one.value) for one in node.keywords]
        for word, value in (*(("default", one) for one in node.args[:1]), *parts):
            found = self._evaluate_or_none(value, scope)
            if found is not None or isinstance(value, ast.Constant):
                said[str(word)] = found
                continue
            if word in ("default", "default_factory"):
                said["default_factory"] = _not_told
            if word != "default_factory":
                what = "what is said" if word is None else f"the `{word}`"
                self._note_unknown(f"{what} of `{scope.name_of(name)}`")
        return _described(lambda: called(**said))

    def _evaluate_or_none(self, node: ast.expr, scope: _Scope) -> Any:
        try:
            return self._evaluate(node, scope)
        except NotTold:
            return None

    def _close(self) -> None:
        """Puts classes in the places of their names, in those that name each other."""
        opened, self._open = self._open, []
        made_by, self._constructors = self._constructors, []
        for class_, node, scope in made_by:
            class_.__init__ = self._function(node, scope)
        for class_, node, scope in opened:
            for line in node.body if not hasattr(class_, "model_fields") else ():
                match line:
                    case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                        class_.__annotations__[name] = self._type_or_any(annotation, scope)
                    case _:
                        pass
        names = {one.__name__: one for one in self._classes}
        for class_, _, _ in opened:
            rebuild: Any = getattr(class_, "model_rebuild", None)
            if rebuild is not None:
                rebuild(raise_errors=False, _types_namespace=names)


_Kind = Literal["Enum", "NamedTuple", "TypedDict", "dataclass", "model"] | None


def _kind(bases: Sequence[Any], makers: Sequence[Any]) -> _Kind:
    """What is done with the values of a class's names, if anything is."""
    if makers:
        return "dataclass"
    for one in bases:
        if _place_of(one).endswith(".NamedTuple"):
            return "NamedTuple"
        if _is_enum(one):
            return "Enum"
        if hasattr(one, "model_fields"):
            return "model"
        if hasattr(one, "__dataclass_fields__"):
            return None
    return None


def _is_enum(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, enum.Enum)


def _head(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _place_of(value: Any) -> str:
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"


def _is_describing(module: str) -> bool:
    return module in _DESCRIBING or module.split(".")[0] == "pydantic"


def _import(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError:
        raise NotTold(module) from None


def _not_told(name: str = "") -> Any:
    """Stands for what only the module knows."""
    raise NotTold(name)


def _described(make: Callable[[], Any]) -> Any:
    """What comes of the parts of a description; NotTold where they do not fit each other."""
    try:
        return make()
    except Exception as error:
        raise NotTold(str(error)) from None
