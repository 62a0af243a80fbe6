"""Writes the import lines of a module, for the output and for the script, sorted like isort does.

Unused imports of the script stay, since importing may have side effects:

    import effects  # noqa: F401
"""

import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

import libcst as cst

from saftc.codegen import python as py
from saftc.codegen.layout import WIDTH, code_of
from saftc.types.builtins import BUILTINS

# The names that the output may import, by module; the table of builtins has more.
_NAMES = {
    "": "asyncio dataclasses dt os pl re",
    "collections.abc": "Awaitable Callable Iterator",
    "contextlib": "suppress",
    "dataclasses": "dataclass field",
    "decimal": "Decimal",
    "typing": "Annotated Any Literal NoReturn TypedDict",
    "runtime_support": (
        "AsyncResult Failed File Image Result ToolCall Usage check defaults in_loop in_thread "
        "later ops overlap program prompt together"
    ),
    # `print` is for modules in which code may print before its turn.
    "runtime_support.ops": "Failure changed failure maybe_await print require show",
    "runtime_support.mcp": "server",
    "runtime_support.programs": "Plan coerce",
}
_PYTHON = [way.python for builtin in BUILTINS.values() for way in builtin.ways]
SOURCES = {
    **{name: module for module, names in _NAMES.items() for name in names.split()},
    **{one.name: one.module for one in _PYTHON if one.module},
}
# The comment on the import of our `print`, which hides Python's.
_OWN_PRINT = "# print keeps the order"
# The modules that are imported under another name.
_MODULES = {"pl": "polars", "dt": "datetime"}


def is_imported(name: str, *, prints_ahead: bool = False) -> bool:
    """True if a name that the output needs must be imported. Builtins of Python need no import.

    `print` is an exception. It is imported only if `prints_ahead`, which means that code in the
    module may print before its turn.
    """
    return name in SOURCES and (name != "print" or prints_ahead)


_Own = tuple[str, str, str]


@dataclass(slots=True)
class Imports:
    """The imports that the module needs so far.

    `siblings` are the modules in the script's folder. `depth` is the depth of the block with the
    import statements. `is_below` is true if the import statements are at the top level of the
    module, below other statements.
    """

    siblings: Collection[str] = ()
    depth: int = 0
    is_below: bool = False
    names: set[str] = field(default_factory=set[str])
    # The script's own imports: (module, "", name) for `import`, (module, name, alias) for `from`.
    own: set[_Own] = field(default_factory=set[_Own])
    # Imports of the script whose names are never read.
    unused: set[_Own] = field(default_factory=set[_Own])

    def add_as(self, name: str, alias: str, *, is_builtin: bool) -> None:
        """Imports a name that the output needs, under an alias."""
        module = "builtins" if is_builtin else SOURCES[name]
        self.own.add((module, name, alias) if module else (_MODULES.get(name, name), "", alias))

    def statements(self) -> list[cst.SimpleStatementLine]:
        """Returns the import statements in the order of isort.

        The order is: the standard library, installed packages, siblings, relative imports.
        """
        whole = {(_MODULES.get(name, name), name) for name in self.names if not SOURCES[name]}
        whole |= {(module, alias) for module, name, alias in self.own if not name}
        modules: dict[str, dict[str, str]] = {}
        for name in self.names:
            if SOURCES[name]:
                modules.setdefault(SOURCES[name], {})[name] = name
        for module, name, alias in self.own:
            if name:
                modules.setdefault(module, {})[alias] = name
        groups: list[list[cst.SimpleStatementLine]] = [[], [], [], []]
        for module, alias in sorted(whole, key=lambda line: (line[0], line[0] != line[1], line)):
            made = cst.Import([_alias(module, alias)])
            groups[self._group(module)].append(self._line(made, (module, "", alias)))
        for module in sorted(modules, key=_module_key):
            groups[self._group(module)] += self._from_statements(module, modules[module])
        lines: list[cst.SimpleStatementLine] = []
        for group in filter(None, groups):
            if lines:
                group[0] = group[0].with_changes(leading_lines=[py.BLANK])
            lines += group
        return lines

    def _from_statements(
        self, module: str, names: dict[str, str]
    ) -> Iterator[cst.SimpleStatementLine]:
        """Yields the statements `from module import a, b`.

        A name with an alias has a separate statement.
        """
        same = sorted((name for alias, name in names.items() if name == alias), key=_isort_key)
        groups = [[(name, alias)] for alias, name in names.items() if name != alias]
        groups += [[(name, name) for name in same]] if same else []
        groups.sort(key=lambda group: (_isort_key(group[0][0]), group[0][1]))
        for group in groups:
            bare = module.lstrip(".")
            made = cst.ImportFrom(
                py.dotted(bare) if bare else None,
                [_alias(*one) for one in group],
                relative=[cst.Dot()] * (len(module) - len(bare)),
            )
            yield self._line(made, *((module, *one) for one in group))

    def _line(self, made: cst.Import | cst.ImportFrom, *own: _Own) -> cst.SimpleStatementLine:
        """Returns an import line with its comments.

        The comments silence linters, and say that `print` is not Python's.
        """
        codes = ["E402"] if self.is_below else []
        codes += ["F401"] if any(one in self.unused for one in own) else []
        comments = [f"# noqa: {', '.join(codes)}"] if codes else []
        comments += [_OWN_PRINT] if (SOURCES["print"], "print", "print") in own else []
        line = py.line(made)
        if not comments:
            return line
        comment = cst.Comment("  ".join(comments))
        told = cst.TrailingWhitespace(cst.SimpleWhitespace("  "), comment)
        line = line.with_changes(trailing_whitespace=told)
        is_long = len(code_of(line).rstrip()) > WIDTH - 4 * self.depth
        if not is_long or not isinstance(made, cst.ImportFrom):
            return line
        # In a statement of several lines, linters read the comment on the first.
        assert not isinstance(made.names, cst.ImportStar)
        begun = cst.LeftParen(cst.ParenthesizedWhitespace(told, indent=True))
        comma = cst.Comma(whitespace_after=cst.ParenthesizedWhitespace(indent=True))
        names = [one.with_changes(comma=comma) for one in made.names]
        return py.line(made.with_changes(names=names, lpar=begun, rpar=cst.RightParen()))

    def _group(self, module: str) -> int:
        if module.startswith("."):
            return 3
        if module in self.siblings:
            return 2
        return 0 if module.split(".")[0] in sys.stdlib_module_names else 1


def _alias(name: str, alias: str) -> cst.ImportAlias:
    return cst.ImportAlias(py.dotted(name), None if alias == name else cst.AsName(py.name(alias)))


def _module_key(module: str) -> tuple[int, str]:
    """The sort key of a module: imports with more leading dots come first."""
    bare = module.lstrip(".")
    return len(bare) - len(module), bare


def _isort_key(name: str) -> tuple[int, str]:
    """The sort key of a name: constants come first, then classes, then other names."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)
