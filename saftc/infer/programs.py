"""The names that programs (`program $...$`) can use: functions, conversions, and their types.

    f number(text: string) -> int: ...
    x = program $ use {number} $            `number` is a built-in type in programs

The runtime builds a registry of these names. Names that the registry would reject are reported
here.
"""

from collections.abc import Iterable, Iterator

from saftc.check.facts import Facts
from saftc.diagnostics import catalogue
from saftc.diagnostics.model import Collector, Diagnostic
from saftc.source import Span
from saftc.syntax import nodes as n
from saftc.syntax.walk import nodes_of
from saftc.types.types import ANY, PROGRAM, FunctionType, RecordType, Type, within

# The built-in types of the program language; their names are reserved there.
BUILT_IN_NAMES = frozenset({"any", "boolean", "integer", "null", "number", "object", "string"})


def conversions_of(module: n.Module, facts: Facts) -> dict[str, n.FunctionDef]:
    """Maps names to the conversions, own and imported, that programs of the script can use."""
    found = _functions_in(module.statements, facts)
    return {name: one for name, one in found.items() if one.is_conversion}


def functions_above(place: Span, module: n.Module, facts: Facts) -> dict[str, n.FunctionDef]:
    """Maps names to the functions that a stored program may call when it is read back at `place`.

    These are the functions that are defined or imported above `place`, except those whose names are
    built-in types of programs.
    """
    above = [statement for statement in module.statements if statement.span.end <= place.start]
    found = _functions_in(above, facts)
    return {name: one for name, one in found.items() if name not in BUILT_IN_NAMES}


def note_stored_programs(module: n.Module, facts: Facts) -> None:
    """Marks functions as used if the script reads a stored program that may call them."""
    for node, coercion in facts.coercions.items():
        if coercion.wanted == PROGRAM:
            for name in functions_above(node.span, module, facts):
                facts.own_names[name].is_read = True


def _functions_in(statements: Iterable[n.Statement], facts: Facts) -> dict[str, n.FunctionDef]:
    """Maps names to the functions that statements define or import from other scripts."""
    found: dict[str, n.FunctionDef] = {}
    for statement in statements:
        if isinstance(statement, n.FunctionDef):
            found[statement.name.text] = statement
        elif isinstance(statement, n.FromImport):
            for imported in statement.names:
                name = imported.alias or imported.name
                definition = facts.meaning_of(facts.names.of(name)).node
                if isinstance(definition, n.FunctionDef):
                    found[name.text] = definition
    return found


def check_programs(module: n.Module, facts: Facts, mistakes: Collector) -> None:
    """Reports invalid conversions, and names that programs cannot use."""
    conversions = conversions_of(module, facts)
    for node in nodes_of(module, n.FunctionDef, n.Prompt):
        if isinstance(node, n.FunctionDef):
            if not node.is_conversion:
                continue
            problem = _problem(node, module, facts)
            hint = f"`conv {node.name.text}(value: A) -> B:` converts an A to a B"
            if problem is not None:
                mistakes.add(
                    catalogue.BAD_CONVERSION.at(node.name.span, problem=problem, hint=hint)
                )
        elif node.mode == "program":
            for diagnostic in _problems_of_names(node, conversions, facts):
                mistakes.add(diagnostic)
    for name, definition in conversions.items():
        if definition in module.statements:
            for diagnostic in _problems_of_conversion(name, definition, facts):
                mistakes.add(diagnostic)


def _problem(conversion: n.FunctionDef, module: n.Module, facts: Facts) -> str | None:
    """What a function must do to be a valid conversion, in words, or None if it is valid."""
    known = facts.functions[conversion]
    if conversion not in module.statements:
        return "be at the top level of the script"
    if len(conversion.parameters) != 1:
        return "have one parameter"
    if conversion.parameters[0].schema is None:
        return "declare the type of its parameter"
    if known.parameters[0] == ANY:
        return "take a value of one type, not of any"
    if conversion.returns is None:
        return "declare the type of its result"
    return "return a value of one type, not of any" if known.declared == ANY else None


def _problems_of_conversion(
    name: str, definition: n.FunctionDef, facts: Facts
) -> Iterator[Diagnostic]:
    known = facts.functions[definition]
    if name in BUILT_IN_NAMES:
        yield _is_built_in(name, definition.name.span)
    for type_ in (*known.parameters, known.returns):
        yield from _problems_of_type(type_, definition.name.span)


def _problems_of_names(
    node: n.Prompt, conversions: dict[str, n.FunctionDef], facts: Facts
) -> Iterator[Diagnostic]:
    for value in node.shown:
        function = facts.types.get(value)
        if not isinstance(function, FunctionType):
            continue
        name = value.text if isinstance(value, n.Name) else ""
        if name in BUILT_IN_NAMES:
            yield _is_built_in(name, value.span)
        elif conversions.get(name, function.definition) is not function.definition:
            yield catalogue.TOOL_NAME_TWICE.at(value.span, name=name)
        known = facts.functions[function.definition]
        for type_ in (*known.parameters, known.returns):
            yield from _problems_of_type(type_, value.span)
    yield from _problems_of_type(facts.prompts[node], node.span)


def _problems_of_type(type_: Type, span: Span) -> Iterator[Diagnostic]:
    for part in within(type_):
        if isinstance(part, RecordType) and part.name in BUILT_IN_NAMES:
            yield _is_built_in(part.name, span)


def _is_built_in(name: str, span: Span) -> Diagnostic:
    return catalogue.PROGRAM_NAME.at(span, name=name, hint="give it another name")
