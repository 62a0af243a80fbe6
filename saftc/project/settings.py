"""What a project says of compiling, in `[tool.saft]` of the nearest pyproject.toml.

    overlap = false         prompts are asked one after the other
    pure = ["geo.*"]        functions of Python that have no effects and do not fail; tools of
                            MCP servers without effects, as in "mcp(docs).search"
    wire = "responses"      in which form servers are asked
    root = "src"            the folder that imports begin in
    in-place = true         `saftc build` alone writes the modules beside their scripts
"""

from pathlib import Path
from typing import Any, TypeGuard, cast

from saftc.project.files import FileProblem
from saftc.schedule.settings import Overlapping

# What of the settings is for the compiler, or for a part that reads it where it runs.
_OF_COMPILING = ("overlap", "pure", "root", "in-place", "mcp")


def compile_settings(
    *,
    in_order: bool = False,
    is_async: bool = False,
    suffix: str = "",
    defaults: str = "",
) -> Overlapping:
    """What the project file in the working folder, or the nearest above, says of overlap.

    `in_order` switches it off; `is_async` asks for the async form, the names of whose modules end
    with `suffix`; `defaults` are the settings that modules take with them, in JSON.

    Raises:
        FileProblem: The file cannot be read, or says something else than these may be.
    """
    *_, path = settings_files()
    section = _section(path) if path.is_file() else {}
    is_on = section.get("overlap", True)
    if not isinstance(is_on, bool):
        raise FileProblem(f"{path} [tool.saft] overlap: expected true or false, got {is_on!r}")
    return Overlapping(is_on and not in_order, _pure_in(section, path), is_async, suffix, defaults)


def pure_patterns(folder: Path) -> tuple[str, ...]:
    """The patterns of Python functions without effects, as the project around a folder names them.

    Raises:
        FileProblem: The file cannot be read, or says something else than names.
    """
    *_, path = settings_files(folder)
    return _pure_in(_section(path), path) if path.is_file() else ()


def _pure_in(section: dict[str, Any], path: Path) -> tuple[str, ...]:
    pure = section.get("pure", [])
    if not _are_patterns(pure):
        raise FileProblem(
            f"{path} [tool.saft] pure: expected a list of names of Python functions, "
            f'as in ["geo.distance", "geo.*", "mcp(docs).search"], got {pure!r}'
        )
    return tuple(pure)


def settings_of_prompts() -> tuple[Path, dict[str, Any]]:
    """The project file, and what it says beside what is for the compiler.

    Raises:
        FileProblem: The file cannot be read.
    """
    *_, path = settings_files()
    section = _section(path) if path.is_file() else {}
    return path, {name: value for name, value in section.items() if name not in _OF_COMPILING}


def project_wire() -> str | None:
    """The wire that the project file says all servers are asked by, if it does.

    Raises:
        FileProblem: The file cannot be read.
    """
    *_, path = settings_files()
    wire = _section(path).get("api") if path.is_file() else None
    return wire if isinstance(wire, str) else None


def project_root(folder: Path) -> Path | None:
    """The folder, as a whole path, that the project around another names as its root, if it does.

    Raises:
        FileProblem: The file cannot be read, or names no folder.
    """
    *_, path = settings_files(folder)
    root = _section(path).get("root") if path.is_file() else None
    if root is None:
        return None
    if not isinstance(root, str) or not (path.parent / root).is_dir():
        raise FileProblem(
            f'{path} [tool.saft] root: expected a folder of the project, as in "src", got {root!r}'
        )
    return path.parent / root


def builds_in_place() -> bool:
    """Whether the project around the working folder has its modules beside their scripts.

    Raises:
        FileProblem: The file cannot be read, or says something else than true or false.
    """
    *_, path = settings_files()
    found = _section(path).get("in-place", False) if path.is_file() else False
    if not isinstance(found, bool):
        raise FileProblem(f"{path} [tool.saft] in-place: expected true or false, got {found!r}")
    return found


def settings_files(folder: Path | None = None) -> list[Path]:
    """Where the project file may be, from a folder up to the first that is there.

    Without a folder, it begins at the working folder.
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
    except (ValueError, AttributeError) as error:  # no TOML, or [tool] is not a table
        raise FileProblem(f"cannot read {path}: {error}") from None
    if not _is_table(section):
        raise FileProblem(f"{path} [tool.saft]: expected a table, got {section!r}")
    return section


def _is_table(value: object) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def _are_patterns(value: object) -> TypeGuard[list[str]]:
    """Whether it is a list of dotted names; `*` stands for any letters."""
    return isinstance(value, list) and all(map(_is_pattern, cast("list[object]", value)))


def _is_pattern(value: object) -> bool:
    if not isinstance(value, str):
        return False
    if value.startswith("mcp("):  # a tool of a server, whose name may have any characters
        return ")." in value
    return value.replace("*", "x").replace(".", "x").isidentifier()
