"""The compiler settings of a project: `[tool.saft]` in the nearest pyproject.toml.

    overlap = false         send prompts one after the other
    pure = ["geo.*"]        Python functions that have no effects and do not fail; also tools of
                            MCP servers that have no effects, as in "mcp(docs).search"
    api = "responses"       the API that requests to providers use
    root = "src"            the folder from which imports are resolved
    in-place = true         `saftc build` without names writes modules beside their scripts
"""

from pathlib import Path
from typing import Any, TypeGuard, cast

from saftc.overlap.settings import Overlapping
from saftc.project.files import FileProblem

# The settings that are not for prompts: the compiler or another part of saftc reads them.
_OF_COMPILING = ("overlap", "pure", "root", "in-place", "mcp")


class Project:
    """The project around a folder (the working folder by default), with its saft settings.

    `path` is the path of the project file, which need not exist.

    Raises:
        FileProblem: The file cannot be read. Properties raise it if a setting has a wrong value.
    """

    def __init__(self, folder: Path | None = None) -> None:
        *_, self.path = settings_files(folder)
        self._section = _section(self.path) if self.path.is_file() else {}

    def check(self) -> None:
        """Raises FileProblem if a setting of the compiler has a wrong value."""
        _ = self.compiling(), self.root, self.builds_in_place

    def compiling(
        self,
        *,
        in_order: bool = False,
        is_async: bool = False,
        suffix: str = "",
        defaults: str = "",
    ) -> Overlapping:
        """The settings for code generation.

        `in_order` switches the overlap of prompts off. `is_async` asks for modules in async form,
        whose names end with `suffix`. `defaults` are the settings to embed in modules, as JSON.
        """
        is_on = self._truth("overlap", default=True) and not in_order
        return Overlapping(is_on, self.pure, is_async, suffix, defaults)

    @property
    def pure(self) -> tuple[str, ...]:
        """The patterns of Python functions without effects."""
        pure = self._section.get("pure", [])
        if not _are_patterns(pure):
            raise FileProblem(
                f"{self.path} [tool.saft] pure: expected a list of names of Python functions, "
                f'as in ["geo.distance", "geo.*", "mcp(docs).search"], got {pure!r}'
            )
        return tuple(pure)

    @property
    def of_prompts(self) -> dict[str, Any]:
        """The settings for prompts, without those for the compiler."""
        return {name: value for name, value in self._section.items() if name not in _OF_COMPILING}

    @property
    def api(self) -> str | None:
        """The API that requests to providers use; None if it is not set."""
        api = self._section.get("api")
        return api if isinstance(api, str) else None

    @property
    def root(self) -> Path | None:
        """The absolute path of the folder from which imports are resolved; None if not set."""
        root = self._section.get("root")
        if root is None:
            return None
        if not isinstance(root, str) or not (self.path.parent / root).is_dir():
            raise FileProblem(
                f"{self.path} [tool.saft] root: expected a folder of the project, "
                f'as in "src", got {root!r}'
            )
        return self.path.parent / root

    @property
    def builds_in_place(self) -> bool:
        """Whether `saftc build` without names writes modules beside their scripts."""
        return self._truth("in-place", default=False)

    def _truth(self, name: str, *, default: bool) -> bool:
        found = self._section.get(name, default)
        if not isinstance(found, bool):
            said = f"expected true or false, got {found!r}"
            raise FileProblem(f"{self.path} [tool.saft] {name}: {said}")
        return found


def settings_files(folder: Path | None = None) -> list[Path]:
    """The paths at which a project file is looked for, up to the first that exists.

    They are in `folder`, which is the working folder by default, and in the folders above it.
    """
    here = Path.cwd() if folder is None else folder.absolute()
    found: list[Path] = []
    for folder in (here, *here.parents):
        found.append(folder / "pyproject.toml")
        if found[-1].is_file():
            break
    return found


def _section(path: Path) -> dict[str, Any]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise FileProblem(f"cannot read {path}: {error.strerror or error}") from None
    if b"saft" not in data:
        return {}
    import tomllib

    try:
        section: Any = tomllib.loads(data.decode()).get("tool", {}).get("saft", {})
    except (ValueError, AttributeError) as error:  # invalid TOML, or [tool] is not a table
        raise FileProblem(f"cannot read {path}: {error}") from None
    if not _is_table(section):
        raise FileProblem(f"{path} [tool.saft]: expected a table, got {section!r}")
    return section


def _is_table(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _are_patterns(value: object) -> TypeGuard[list[str]]:
    """Whether a value is a list of dotted names, in which `*` matches any letters."""
    return isinstance(value, list) and all(map(_is_pattern, cast("list[object]", value)))


def _is_pattern(value: object) -> bool:
    if not isinstance(value, str):
        return False
    if value.startswith("mcp("):  # a tool of an MCP server; its name may have any characters
        return ")." in value
    return value.replace("*", "x").replace(".", "x").isidentifier()
