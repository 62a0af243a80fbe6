"""Builds the classes and functions of Python modules from their source, without running them.

    find = PythonObjects(library)
    find("shop").Order           a class with the bases, the fields and the docstring of `Order`
    find("shop").find_orders     a function with that signature and docstring, without its body

`saftc.project.python` resolves names and the kinds of classes, as for the checker. The classes are
built from its results, so that the runtime and pydantic treat them as they treat the original
classes. A call in an annotation or a default is made only if it describes a value, such as
`Field(gt=0)` or `auto()`. A name that cannot be resolved without running the module raises
NotStaticallyKnown. If a class uses such a name, any value is assumed in its place, and `unknown_in`
describes the name.
"""

import ast
import inspect
import types
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, ForwardRef, TypeVar
from weakref import WeakKeyDictionary

from saftc.project.python.annotations import Meaning, quoted
from saftc.project.python.bindings import Bindings, Definition, Overloads
from saftc.project.python.classes import Class
from saftc.project.python.fields import MAKERS, describes
from saftc.project.python.library import Library, Module, NamedType

# Functions that return types: they may be called, as those that describe the values of a field.
_OF_TYPES = tuple(f"pydantic.con{of}" for of in ("frozenset", "list", "set"))
_CALLED = (
    *("dataclasses.field", "enum.auto", "functools.partial", *MAKERS),
    *("pydantic.AliasChoices", "pydantic.AliasPath"),
)
# The standard library modules whose classes may be instantiated.
_OF_VALUES = ("datetime", "decimal", "pathlib", "uuid")
# Decorators that keep a function's signature.
_AROUND_METHODS: dict[Meaning, Any] = {
    "builtins.classmethod": classmethod,
    "builtins.staticmethod": staticmethod,
}
_HARMLESS = (
    *("abc.abstractmethod", "functools.cache", "functools.lru_cache"),
    *("typing.final", "typing.override", "typing.deprecated"),
)
# The modules of names that `saftc.project.python` knows under a shorter one.
_HOMES = {
    "exact": ("builtins",),
    "typing": ("typing", "typing_extensions", "collections.abc"),
    "pydantic": ("pydantic", "pydantic.dataclasses"),
}
# Modules whose import has effects.
_NOISY = ("antigravity", "this")

# Descriptions of the unknown parts of a class or function, and of the classes that it names.
_unknown: WeakKeyDictionary[Any, list[str]] = WeakKeyDictionary()


class NotStaticallyKnown(AttributeError):
    """Raised when a name of a Python module cannot be resolved without running the module."""


def unknown_in(value: Any) -> list[str]:
    """Describes the unknown parts of a class or function, and of the classes that it names."""
    value = getattr(value, "__func__", value)
    return _unknown.get(value, []) if isinstance(value, type | types.FunctionType) else []


class _Members:
    """A module whose members are built when they are accessed."""

    def __init__(self, find: Callable[[str], Any]) -> None:
        self.__find = find

    def __getattr__(self, name: str) -> Any:
        return self.__find(name)


@dataclass(frozen=True, slots=True)
class _Scope:
    """The scope of an expression: a module, and possibly a class in it."""

    module: Module
    class_: Class | None = None

    @property
    def bindings(self) -> Bindings:
        return self.module.bindings if self.class_ is None else self.class_.bindings

    def meaning(self, node: ast.expr) -> Meaning:
        return self.module.meaning(node) if self.class_ is None else self.class_.inside(node)

    def name_of(self, name: str) -> str:
        return name if self.class_ is None else f"{self.class_.qualified_name}.{name}"


class PythonObjects:
    """Builds the declarations of the Python modules in a library."""

    def __init__(self, library: Library) -> None:
        self._library = library
        # The objects built so far, by the node that declares them.
        self._made: dict[ast.AST, Any] = {}
        self._under_way: set[ast.AST] = set()
        # The unknown parts of each class and function being built, innermost last.
        self._notes: list[list[str]] = []
        # Forward references to classes that are being built, by the class's node; and the classes
        # by the names of these references.
        self._references: dict[ast.AST, ForwardRef] = {}
        self._classes: dict[str, Any] = {}
        # The classes whose methods and forward references are not resolved yet.
        self._open: list[tuple[Any, _Scope]] = []

    def __call__(self, name: str) -> Any:
        """The module called `name`. Access to an unknown member raises NotStaticallyKnown."""
        module = self._library.module(name)
        if self._library.knows(name) or (module is not None and module.is_stub):
            return _Members(partial(_of_python, name))
        return _Members(_not_known if module is None else partial(self._member, module))

    # Names

    def _member(self, module: Module, name: str) -> Any:
        match module.reach(name):
            case None if self._library.module(f"{module.name}.{name}") is not None:
                return self(f"{module.name}.{name}")
            case None:
                raise NotStaticallyKnown(name)
            case str() as known:
                return _by_name(known)
            case Module() as found:
                return self(found.name)
            case found, own:
                return self._bound(_Scope(found), own)

    def _bound(self, scope: _Scope, name: str) -> Any:
        """The object to which the scope's module, or its class, binds a name."""
        if scope.module.is_stub:
            return _of_python(scope.module.name, name)
        match scope.bindings.names[name]:
            case Overloads((node,)):
                return self._once(node, partial(self._function, node, scope))
            case ast.ClassDef():
                return self._named(ast.Name(name), scope)
            case (ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value)) as node:
                return self._once(node, partial(self._variable, value, scope))
            case ast.AnnAssign(annotation=annotation):
                return self._instance(annotation, scope)
            case _:
                raise NotStaticallyKnown(name)

    def _once(self, node: ast.AST, make: Callable[[], Any]) -> Any:
        """The object that `node` declares.

        It is built once, unless it refers to a class that is still being built.
        """
        if node in self._under_way:
            return self._reference(node)
        if node not in self._made:
            self._under_way.add(node)
            try:
                made = make()
            except AttributeError as problem:
                made = NotStaticallyKnown(str(problem))
            finally:
                self._under_way.discard(node)
            is_one = isinstance(node, ast.ClassDef) or isinstance(made, TypeVar)
            if is_one or not self._under_way:
                self._made[node] = made
            if not self._under_way:
                self._close()
        else:
            made = self._made[node]
        if isinstance(made, NotStaticallyKnown):
            raise made
        if self._notes:
            self._notes[-1] += unknown_in(made)
        return made

    def _reference(self, node: ast.AST) -> Any:
        if not isinstance(node, ast.ClassDef):
            raise NotStaticallyKnown
        return self._references.setdefault(node, ForwardRef(f"_{len(self._references)}"))

    def _variable(self, node: ast.expr, scope: _Scope) -> Any:
        """The value of a variable.

        An instance of a class that the user wrote is replaced by a substitute.
        """
        match node:
            case ast.Call(func=made, args=[ast.Constant(value=str() as name), *others]) if (
                scope.meaning(made) in ("typing.NewType", "typing.TypeVar")
            ):
                bounds = [self._type(one, scope) for one in others]
                if scope.meaning(made) == "typing.NewType":
                    return bounds[0]
                words = {str(one.arg): self._type(one.value, scope) for one in node.keywords}
                type_variable: Any = TypeVar
                return _described(lambda: type_variable(name, *bounds, **words))
            case ast.Call(func=made) if (
                isinstance(class_ := scope.meaning(made), Class) and not class_.is_stub
            ):
                return self._instance(made, scope)
            case _:
                return self._value(node, scope)

    def _instance(self, node: ast.expr, scope: _Scope) -> Any:
        """A substitute for an instance of a class. It has only the methods of the class."""
        class_ = scope.meaning(node)
        if not isinstance(class_, Class) or class_.is_stub:
            raise NotStaticallyKnown
        return _described(partial(object.__new__, self._named(node, scope)))

    # Expressions

    def _value(self, node: ast.expr, scope: _Scope) -> Any:
        """The value of an expression that describes a type or a field."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name() | ast.Attribute():
                return self._named(node, scope)
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
            case ast.BinOp(op=ast.BitOr()) | ast.Subscript():
                return self._type(node, scope)
            case ast.Call():
                return self._call(node, scope)
            case ast.Lambda():
                return _not_known  # the caller raises
            case _:
                raise NotStaticallyKnown

    def _each(self, nodes: Sequence[ast.expr], scope: _Scope) -> Iterator[Any]:
        return (self._value(node, scope) for node in nodes)

    def _type(self, node: ast.expr, scope: _Scope) -> Any:
        """The Python object that an annotation means. The annotation may be quoted."""
        match node:
            case ast.Constant(value=str() as text):
                inner = quoted(text)
                return _not_known(text) if inner is None else self._type(inner, scope)
            case ast.List(elts=items):  # the parameters in `Callable[[int], str]`
                return [self._type(one, scope) for one in items]
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                first, second = self._type(left, scope), self._type(right, scope)
                return _described(lambda: first | second)
            case ast.Subscript(value=value, slice=inside):
                head = self._named(value, scope)
                parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
                # `Literal[...]` and the rest of `Annotated[T, ...]` contain values.
                kind = scope.meaning(value)
                count = {"typing.Literal": 0, "typing.Annotated": 1}.get(str(kind), len(parts))
                read = [self._type(one, scope) for one in parts[:count]]
                read += self._each(parts[count:], scope)
                part = tuple(read) if isinstance(inside, ast.Tuple) else read[0]
                return _described(lambda: head[part])
            case _:
                return self._value(node, scope)

    def _named(self, node: ast.expr, scope: _Scope) -> Any:
        match scope.meaning(node), node:
            case str() as known, _:
                return _by_name(known)
            case Class(is_stub=True) as class_, _:
                return _of_python(class_.module, class_.node.name)
            case Class() as class_, _:
                return self._once(class_.node, partial(self._class, class_))
            case _, ast.Name(id=name) if name in scope.bindings.names:
                return self._bound(scope, name)
            case _, ast.Name(id=name):
                return self._member(scope.module, name)
            case _, ast.Attribute(value=value, attr=name):
                owner, meaning = self._named(value, scope), scope.meaning(value)
                is_enum = isinstance(meaning, Class) and meaning.kind == "Enum"
                if is_enum or isinstance(owner, _Members):
                    return getattr(owner, name)
                raise NotStaticallyKnown(name)
            case _:
                raise NotStaticallyKnown

    def _call(self, node: ast.Call, scope: _Scope) -> Any:
        meaning = scope.meaning(node.func)
        if isinstance(meaning, NamedType) and len(node.args) == 1:  # a NewType
            return self._value(node.args[0], scope)
        of_values = isinstance(meaning, Class) and meaning.is_stub and meaning.module in _OF_VALUES
        is_told = of_values or meaning in (*_CALLED, *_OF_TYPES) or describes(meaning)
        if not is_told or any(one.arg is None for one in node.keywords):
            raise NotStaticallyKnown
        read = self._type if meaning in _OF_TYPES else self._value
        called = self._named(node.func, scope)
        arguments = [read(one, scope) for one in node.args]
        words = {str(one.arg): read(one.value, scope) for one in node.keywords}
        return _described(lambda: called(*arguments, **words))

    # Unknown parts

    def _note_unknown(self, what: str) -> None:
        self._notes[-1].append(what)

    @contextmanager
    def _noting(self, notes: list[str]) -> Generator[None]:
        self._notes.append(notes)
        try:
            yield
        finally:
            self._notes.pop()

    def _type_noted(self, node: ast.expr, scope: _Scope, of: str) -> Any:
        """The Python object that the annotation of `of` means.

        If the object is unknown, returns `Any` and adds a note that names `of`.
        """
        try:
            return self._type(node, scope)
        except AttributeError:
            self._note_unknown(f"the type of {of}")
            return Any

    # Functions

    def _function(self, node: Definition, scope: _Scope) -> Any:
        decorators = [scope.meaning(_head(one)) for one in node.decorator_list]
        if not {*decorators} <= {*_HARMLESS, *_AROUND_METHODS}:
            raise NotStaticallyKnown(node.name)

        def declared(*_given: Any, **_named: Any) -> None:
            """Replaces the function in previews, and is never called."""

        hints: dict[str, Any] = {}
        parameters: list[inspect.Parameter] = []
        with self._noting([]):
            for one, kind, default in _parameters(node.args):
                if one.annotation is not None:
                    of = f"`{one.arg}` of `{node.name}`"
                    hints[one.arg] = self._type_noted(one.annotation, scope, of)
                value = inspect.Parameter.empty if default is None else ...
                with suppress(AttributeError):
                    value = value if default is None else self._value(default, scope)
                parameters.append(inspect.Parameter(one.arg, kind, default=value))
            if node.returns is not None:
                try:
                    hints["return"] = self._type(node.returns, scope)
                except AttributeError:
                    hints["return"] = Any
            _unknown[declared] = self._notes[-1]
        declared.__name__ = node.name
        declared.__qualname__ = scope.name_of(node.name)
        declared.__module__ = scope.module.name
        declared.__doc__ = ast.get_docstring(node, clean=False)
        declared.__annotations__ = hints
        vars(declared)["__signature__"] = inspect.Signature(parameters)
        made: Any = declared
        for one in filter(None, map(_AROUND_METHODS.get, decorators)):
            made = one(made)
        return made

    # Classes

    def _class(self, class_: Class) -> Any:
        module = self._library.module(class_.module)
        if not class_.is_described or module is None:
            raise NotStaticallyKnown(class_.node.name)
        node, around, within = class_.node, _Scope(module, class_.around), _Scope(module, class_)
        with self._noting([]):
            makers = [
                self._value(one, around)
                for one in reversed(node.decorator_list)
                if around.meaning(_head(one)) in MAKERS
            ]
            bases = tuple(self._type(one, around) for one in node.bases)
            words = {str(one.arg): self._value(one.value, around) for one in node.keywords}
            if any(isinstance(one, ForwardRef) for one in bases) or "metaclass" in words:
                raise NotStaticallyKnown(node.name)
            body, notes = self._body(class_, within), self._notes[-1]

        def make() -> Any:
            made: Any = types.new_class(node.name, bases, words, partial(_fill, body))
            for decorate in makers:
                made = decorate(made)
            return made

        made = _described(make)
        _unknown[made] = notes
        if node in self._references:
            self._classes[self._references[node].__forward_arg__] = made
        self._open.append((made, within))
        return made

    def _body(self, class_: Class, scope: _Scope) -> dict[str, Any]:
        """The namespace from which a class is built, without its methods."""
        annotations: dict[str, Any] = {}
        body: dict[str, Any] = {
            "__module__": class_.module,
            "__qualname__": class_.qualified_name,
            "__doc__": ast.get_docstring(class_.node, clean=False),
            "__annotations__": annotations,
        }
        for line in class_.node.body:
            match line:
                case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=value):
                    if class_.kind == "model" and name.startswith("_"):
                        continue  # it configures pydantic, and is not a field
                    annotations[name] = self._type_noted(
                        annotation, scope, f"`{scope.name_of(name)}`"
                    )
                    if value is not None and class_.fields and name in class_.fields:
                        body[name] = self._field_value(value, scope, name, class_)
                case ast.Assign(targets=[ast.Name(id=name)], value=value) if class_.kind == "Enum":
                    body[name] = self._value(value, scope)
                case ast.Assign(targets=[ast.Name(id="model_config")], value=value):
                    try:
                        body["model_config"] = self._value(value, scope)
                    except AttributeError:
                        self._note_unknown(f"the `model_config` of `{class_.node.name}`")
                case ast.ClassDef(name="Config") if class_.kind == "model":
                    self._note_unknown(f"the `Config` of `{class_.node.name}`")
                case _:
                    pass
        return body

    def _field_value(self, node: ast.expr, scope: _Scope, name: str, class_: Class) -> Any:
        """The default or the description of a field. If it is unknown, adds a note."""
        try:
            return self._value(node, scope)
        except AttributeError:
            pass
        makers = {"model": "pydantic.Field", "dataclass": "dataclasses.field"}
        maker = makers.get(str(class_.kind))
        is_said = isinstance(node, ast.Call) and scope.meaning(node.func) == maker
        what = "what is said" if is_said else "the default"
        self._note_unknown(f"{what} of `{scope.name_of(name)}`")
        if maker is None:
            return ...
        has_default = class_.fields is not None and class_.fields[name][0].has_default
        return _by_name(maker)(**{"default_factory": _not_known} if has_default else {})

    def _close(self) -> None:
        """Adds methods to the built classes, and resolves their forward references."""
        opened, self._open = self._open, []
        with self._noting([]):
            for made, scope in opened:
                for line in () if scope.class_ is None else scope.class_.node.body:
                    self._complete(made, line, scope)
        for made, _ in opened:
            rebuild: Any = getattr(made, "model_rebuild", None)
            if rebuild is not None:
                rebuild(raise_errors=False, _types_namespace=self._classes)

    def _complete(self, made: Any, line: ast.stmt, scope: _Scope) -> None:
        match line:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if not name.startswith("__") or name == "__init__":
                    with suppress(AttributeError):  # access to an unknown name raises it
                        setattr(made, name, self._function(line, scope))
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                if self._references and not hasattr(made, "model_fields"):
                    made.__annotations__[name] = self._type_noted(annotation, scope, name)
            case _:
                pass


def _parameters(
    arguments: ast.arguments,
) -> Iterator[tuple[ast.arg, Any, ast.expr | None]]:
    """The parameters of a function, each with its kind and its default."""
    kinds, given = inspect.Parameter, [*arguments.posonlyargs, *arguments.args]
    lacking = [None] * (len(given) - len(arguments.defaults))
    defaults = [*lacking, *arguments.defaults]
    for i, (one, default) in enumerate(zip(given, defaults, strict=True)):
        is_by_position = i < len(arguments.posonlyargs)
        kind = kinds.POSITIONAL_ONLY if is_by_position else kinds.POSITIONAL_OR_KEYWORD
        yield one, kind, default
    if arguments.vararg is not None:
        yield arguments.vararg, kinds.VAR_POSITIONAL, None
    for one, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        yield one, kinds.KEYWORD_ONLY, default
    if arguments.kwarg is not None:
        yield arguments.kwarg, kinds.VAR_KEYWORD, None


def _head(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _fill(body: dict[str, Any], namespace: dict[str, Any]) -> None:
    # Not by `update`: the namespace of an Enum inspects each item that is set.
    for name, value in body.items():
        if name != "__doc__" or value is not None:
            namespace[name] = value


def _by_name(name: str) -> Any:
    """The object that a qualified name such as `typing.Optional` means."""
    module, _, word = name.rpartition(".")
    return _of_python(module, word)


def _of_python(module: str, name: str) -> Any:
    """A member of a module of the standard library or of pydantic.

    The module is imported. No code that the user wrote runs.
    """
    for home in _HOMES.get(module, (module,)) if module not in _NOISY else ():
        try:
            return getattr(import_module(home), name)
        except (ImportError, AttributeError):
            continue
    raise NotStaticallyKnown(name)


def _not_known(name: str = "") -> Any:
    """Raises NotStaticallyKnown for a name."""
    raise NotStaticallyKnown(name)


def _described(make: Callable[[], Any]) -> Any:
    """Calls `make`, which builds a description. Raises NotStaticallyKnown if that fails."""
    try:
        return make()
    except Exception as error:
        raise NotStaticallyKnown(str(error)) from None
