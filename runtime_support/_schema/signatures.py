"""The signatures of functions that are tools: parameters, return schema and docs.

signature_of(look_up)            the parameters, return schema and doc of a tool's function
bind_call(look_up, parameters, {"name": "Ada"})       a partial that makes the call
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
import typing
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias
from weakref import WeakKeyDictionary

from runtime_support._schema import model as m
from runtime_support._schema.reading import doc_of, schema_of
from runtime_support._values.names import field_name, script_name

Passed: TypeAlias = Literal["by position", "by name", "either way"]

_PASSED: dict[Any, Passed] = {
    inspect.Parameter.POSITIONAL_ONLY: "by position",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "either way",
    inspect.Parameter.KEYWORD_ONLY: "by name",
}

_signatures: WeakKeyDictionary[Any, Signature] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class Parameter(m.Field):
    """A parameter of a function. `passed` says how Python accepts its argument.

    If `by_position`, the argument must be passed by position even if the call names it, for example
    because `*args` follows. If `takes_rest`, the parameter is `*args`, and its value is a list.
    `factory` makes a default that must be new for each call.
    """

    passed: Passed = "either way"
    by_position: bool = False
    takes_rest: bool = False
    factory: Callable[[], Any] | None = None

    def default_value(self) -> Any:
        return self.default if self.factory is None else self.factory()


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters, return schema and doc of a tool's function.

    If `open_ended`, the function takes arguments with arbitrary names. If annotations could
    not be read, `unresolved` says why, and arguments may have any type.
    """

    parameters: tuple[Parameter, ...]
    returns: m.Schema
    doc: str | None
    open_ended: bool = False
    unresolved: str | None = None

    @property
    def rest(self) -> Parameter | None:
        """The parameter `*args`, or None."""
        return next((one for one in self.parameters if one.takes_rest), None)

    @property
    def named(self) -> tuple[Parameter, ...]:
        """All parameters except `*args`."""
        return tuple(one for one in self.parameters if not one.takes_rest)


def bind_call(
    function: Callable[..., Any], parameters: Iterable[Parameter], arguments: Mapping[str, Any]
) -> Callable[[], Any]:
    """Returns a partial that calls the function.

    `arguments` maps the names of parameters in scripts to values.
    """
    named = dict(arguments)
    positional: list[Any] = []
    for one in parameters:
        if one.takes_rest:
            positional += named.pop(one.name, ())
        elif one.by_position:
            positional.append(named.pop(one.name) if one.name in named else one.default_value())
        elif one.name in named:
            named[one.python_name] = named.pop(one.name)
    return functools.partial(function, *positional, **named)


def signature_of(
    function: Callable[..., Any], names: Mapping[type, str] | None = None
) -> Signature:
    """Returns the signature of a function, from a cache if possible. Annotations may be strings.

    `names` maps classes to other names, as in `schema_of`. Raises CheckError if an annotation is
    not a type.
    """
    if names:
        return _signature(function, names)
    try:
        found = _signatures.get(function)
    except TypeError:  # cannot be hashed or referred to weakly
        return _signature(function, None)
    if found is None:
        found = _signature(function, None)
        with suppress(TypeError):
            _signatures[function] = found
    return found


def _signature(function: Callable[..., Any], names: Mapping[type, str] | None) -> Signature:
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError) as error:
        unresolved = f"there is no signature to read: {error}"
        doc = inspect.getdoc(function)
        return Signature((), m.AnySchema(), doc, open_ended=True, unresolved=unresolved)
    hints, unresolved = _hints_of_function(function, names)
    hints = {**hints, **_hints_of_signature(function, signature)}
    namespace: Mapping[str, Any] | None = getattr(function, "__globals__", None)
    known_by = field_name if dataclasses.is_dataclass(function) else script_name
    kinds = [parameter.kind for parameter in signature.parameters.values()]
    has_rest = inspect.Parameter.VAR_POSITIONAL in kinds
    open_ended = inspect.Parameter.VAR_KEYWORD in kinds
    parameters: list[Parameter] = []
    whole = inspect.getdoc(function)
    if isinstance(function, type):
        from runtime_support._schema.classes import own_doc

        whole = own_doc(function)
    function_doc, said = _split_doc(whole, signature.parameters)
    for name, parameter in signature.parameters.items():
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        hint = hints.get(name, Any)
        schema, doc = schema_of(hint, namespace, names), doc_of(hint) or said.get(name)
        known_as = known_by(name)
        if known_as in signature.parameters:
            known_as = name
        if parameter.kind is parameter.VAR_POSITIONAL:
            items = m.ListSchema(schema)
            parameters.append(
                Parameter(known_as, items, False, doc=doc, attribute=name, takes_rest=True)
            )
            continue
        required = parameter.default is parameter.empty
        default = m.ABSENT if required else parameter.default
        passed = _PASSED[parameter.kind]
        ahead = passed == "by position" or (passed == "either way" and has_rest)
        parameters.append(
            Parameter(
                known_as, schema, required, default, doc, name, passed=passed, by_position=ahead
            )
        )
    returns = schema_of(hints["return"], namespace, names) if "return" in hints else m.AnySchema()
    return Signature(tuple(parameters), returns, function_doc, open_ended, unresolved)


# The headings of parameter texts in the styles of Google, NumPy and Sphinx.
_PARAMETER_TEXTS = re.compile(
    r"^[ \t]*(?:(?:Args|Arguments|Parameters|Params):?[ \t]*$|:param\b)", re.MULTILINE
)


def _split_doc(doc: str | None, names: Collection[str]) -> tuple[str | None, dict[str, str]]:
    """Returns a docstring without the texts of parameters, and a mapping of parameters to texts."""
    if doc is None or not _PARAMETER_TEXTS.search(doc):
        return doc, {}
    from docstring_parser import ParseError, compose, parse
    from docstring_parser.common import DocstringParam, DocstringReturns

    try:
        parsed = parse(doc)
    except ParseError:
        return doc, {}
    said = {
        one.arg_name.lstrip("*"): " ".join((one.description or "").split()) for one in parsed.params
    }
    if not said.keys() <= set(names):
        return doc, {}  # these are no parameters: keep the docstring whole
    returns = parsed.returns
    parsed.meta = [
        one for one in parsed.meta if not isinstance(one, DocstringParam | DocstringReturns)
    ]
    parts = [compose(parsed).strip()]
    if returns is not None and returns.description:
        parts.append(f"Returns: {' '.join(returns.description.split())}")
    return "\n\n".join(filter(None, parts)) or None, said


def _hints_of_signature(function: Any, signature: inspect.Signature) -> dict[str, Any]:
    """Maps parameters, and `return`, to the types in a `__signature__` that code has set."""
    if isinstance(function, type) or not hasattr(function, "__signature__"):
        return {}
    given = [(name, one.annotation) for name, one in signature.parameters.items()]
    return {
        name: one
        for name, one in (*given, ("return", signature.return_annotation))
        if one is not signature.empty and not isinstance(one, str)
    }


def _hints_of_function(
    function: Any, known: Mapping[type, str] | None
) -> tuple[dict[str, Any], str | None]:
    """Maps parameters to annotations. Also returns a reason if they cannot be resolved, or None."""
    function = find_documented(function)
    if isinstance(function, type):
        from runtime_support._schema.classes import hints_of_class

        hints = hints_of_class(function, known=known)
        if hints:
            return hints, None
        function = vars(function).get("__init__", function)
    names = {name: python for python, name in (known or {}).items()} or None
    try:
        return typing.get_type_hints(function, localns=names, include_extras=True), None
    except (NameError, AttributeError, SyntaxError) as error:
        return {}, f"an annotation cannot be resolved: {error}"
    except TypeError:  # it has no annotations
        return {}, None


def find_documented(function: Any) -> Any:
    """Removes wrappers and partials, and returns the callable with annotations and a docstring.

    For a callable object, returns the `__call__` of its class.
    """
    while isinstance(function, functools.partial):
        function = typing.cast("functools.partial[Any]", function).func
    if isinstance(function, type):
        return function
    function = inspect.unwrap(function)
    called = type(function).__call__
    is_instance = not hasattr(function, "__annotations__") and hasattr(called, "__annotations__")
    return called if is_instance else function
