"""What may only get less, measured: sizes, wrong arrows, long functions, and the like.

Each measure gives numbers by the names of what it measured, and a limit that nothing may exceed but
what `tests/budget.toml` or `tests/structure/house.toml` lists with its number.
"""

from __future__ import annotations

import re
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from tests.structure.modules import (
    PACKAGES,
    ROOT,
    imported,
    loaded_parts,
    modules,
    private_of_dependencies,
    read_module,
)

BUDGET = ROOT / "tests" / "budget.toml"
HOUSE = ROOT / "tests" / "structure" / "house.toml"

MOST_LINES = 50
MOST_ENTRIES = 15
FEWEST_LINES = 40

_OWN_IMPORT = re.compile(
    r"^\s*(?:from ((?:runtime_support|saftc)[\w.]*) import (\([^)]*\)|[^\n]*)"
    r"|import ((?:runtime_support|saftc)[\w.]*))|\"((?:runtime_support|saftc)\.[\w.]+)\"",
    re.M,
)
_PRIVATE = re.compile(r"(?<![\w.])(?:\w+\.)*_(?!version\b)[a-z]\w*")


@cache
def house() -> dict[str, Any]:
    return tomllib.loads(HOUSE.read_text(encoding="utf-8"))


@cache
def _homes() -> dict[str, str]:
    """The rooms of the modules that are not yet in the folder of their room."""
    return {
        f"{package}.{name}".removesuffix("."): f"{package}/{room}"
        for package in PACKAGES
        for room, names in house()[package]["rooms"].items()
        for name in names
    }


def room(module: str) -> str:
    """The room of a module: `saftc/syntax`, or a part of one, `runtime_support/_core/reader`."""
    module = module.removesuffix(".pyi")
    package, _, inside = module.partition(".")
    above = module
    while above != package:
        if above in _homes():
            return _homes()[above]
        above = above.rpartition(".")[0]
    return f"{package}/{inside.partition('.')[0] or '__init__'}"


def statements() -> Counter[str]:
    """How many statements each room has."""
    counted: Counter[str] = Counter()
    for module in modules().values():
        counted[room(module.name)] += module.statements
    return counted


def data_bytes() -> Counter[str]:
    """The sizes of the files that are no code, by rooms."""
    counted: Counter[str] = Counter()
    for package in PACKAGES:
        for file in (ROOT / package).rglob("*"):
            inside = ".".join(file.parent.relative_to(ROOT).parts)
            # Tables are made of the grammar, which counts.
            is_code = file.suffix in (".py", ".pyi", ".pyc", ".tables") or ".egg-info" in inside
            if file.is_file() and not is_code:
                counted[room(inside)] += file.stat().st_size
    return counted


def wrong_arrows() -> Counter[str]:
    """For each module and each room that it may not import: how many modules of that."""
    height = {
        f"{package}/{name}": number
        for package in PACKAGES
        for number, names in enumerate(house()[package]["floors"])
        for name in names
    }
    counted: Counter[str] = Counter()
    for module in modules().values():
        own = _whole(room(module.name))
        # The core may load any part, by the registry: what a run does not need is not loaded.
        by_name = loaded_parts(module) if own == "runtime_support/_core" else set[str]()
        for name in imported(module) - by_name:
            other = _whole(room(name))
            if module.package != name.partition(".")[0]:
                is_right = _may_know_the_runtime(own)
            else:
                is_right = own == other or height[other] < height[own]
            if not is_right:
                counted[f"{module.name} -> {other}"] += 1
    return counted


def _whole(room_of_it: str) -> str:
    return "/".join(room_of_it.split("/")[:2])


def _may_know_the_runtime(own: str) -> bool:
    package, _, inside = own.partition("/")
    return package == "saftc" and inside in house()["saftc"]["knows_the_runtime"]


def long_functions() -> dict[str, int]:
    return {
        f"{module.name}.{name}": lines
        for module in modules().values()
        for name, lines in module.functions.items()
    }


def entries() -> Counter[str]:
    """The modules in each folder."""
    own = (name for name, module in modules().items() if module.file.stem != "__init__")
    return Counter(name.rpartition(".")[0] for name in own)


def small_modules() -> dict[str, int]:
    """Modules of few lines that only one other imports."""
    importers: Counter[str] = Counter()
    for module in modules().values():
        importers.update(imported(module))
    return {
        module.name: 1
        for module in modules().values()
        if module.file.name != "__init__.py"
        and not module.file.with_suffix(".pyi").exists()  # what users import
        and module.lines < FEWEST_LINES
        and importers[module.name] == 1
    }


def names_of_dependencies() -> dict[str, int]:
    return {module.name: len(private_of_dependencies(module)) for module in modules().values()}


def split_lines() -> dict[str, int]:
    return {module.name: module.splits_lines for module in modules().values()}


# Where kinds of nodes are listed: their definitions, and the table of what each does.
_LISTS_KINDS = ("saftc.syntax.nodes", "saftc.syntax.constructs")


def lists_of_kinds() -> dict[str, int]:
    """The tuples and unions of many kinds of nodes, which a new kind of node has to be put into."""
    found = {module.name: module.lists_of_kinds for module in modules().values()}
    return {name: number for name, number in found.items() if name not in _LISTS_KINDS}


def private_imports() -> dict[str, int]:
    """The files of the tests and of the benchmarks that import underscored names of the product."""
    files = (
        file
        for folder in ("tests", "benchmarks")
        for file in (ROOT / folder).rglob("*.py")
        if not {"cases", "goldens", "structure"} & set(file.relative_to(ROOT).parts)
    )
    return {
        str(file.relative_to(ROOT)): 1
        for file in files
        if any(
            _PRIVATE.search(" ".join(filter(None, found)))
            for found in _OWN_IMPORT.findall(file.read_text(encoding="utf-8"))
        )
    }


def undocumented() -> dict[str, int]:
    """Of a hundred public classes and functions, how many have no docstring."""
    percents: dict[str, int] = {}
    for package in PACKAGES:
        own = [module for module in modules().values() if module.package == package]
        public = [has for module in own for has in module.public.values()]
        percents[package] = -(-100 * public.count(False) // len(public))
    return percents


def usual_length(package: str) -> int:
    """What nine of ten functions do not exceed."""
    lengths = sorted(
        lines
        for module in modules().values()
        if module.package == package
        for lines in module.functions.values()
    )
    return lengths[len(lengths) * 9 // 10]


def grown(room_of_it: str) -> list[str]:
    """The modules of a room that have more statements than at the last change of the budget."""
    try:
        commit = _git("log", "-1", "--format=%H", "--", str(BUDGET)).strip()
        listed = _git("ls-tree", "-r", "--name-only", commit, *PACKAGES).splitlines()
    except (OSError, subprocess.CalledProcessError):
        return ["without git, nobody knows which modules grew"]
    said: list[str] = []
    for module in modules().values():
        if room(module.name) == room_of_it:
            path = str(module.file.relative_to(ROOT))
            before = 0
            if path in listed:
                text = _git("show", f"{commit}:{path}")
                before = read_module(module.file, text).statements
            if module.statements > before:
                said.append(f"{module.name}: {before} -> {module.statements}")
    return sorted(said)


def raised_without_reason(sections: Iterable[str]) -> list[str]:
    """The numbers of the budget that were raised and have no line `# +13: ...` above.

    They are compared with those before the last change of the file, if git knows them.
    """
    path = BUDGET.relative_to(ROOT).as_posix()
    text = BUDGET.read_text(encoding="utf-8")
    try:
        changes = _git("log", "-2", "--format=%H", "--", path).split()
        before = [tomllib.loads(_git("show", f"{commit}:{path}")) for commit in changes]
    except (OSError, subprocess.CalledProcessError):
        return []
    now = tomllib.loads(text)
    return [
        name
        for section in sections
        for name, number in now[section].items()
        if any(number > old[section].get(name, 0) for old in before if section in old)
        and not re.search(rf'^# \+\d+: .+\n"{re.escape(name)}" = ', text, re.M)
    ]


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


def hold(
    section: str, numbers: Mapping[str, int], file: Path, updates: bool, limit: int = 0
) -> None:
    """Fails where a number is above what a file allows, or below: then the file is to follow."""
    text = file.read_text(encoding="utf-8")
    allowed: dict[str, int] = tomllib.loads(text)[section]
    less: dict[str, int | None] = {
        name: number if number > limit else None
        for name, most in allowed.items()
        if (number := numbers.get(name, 0)) < most
    }
    if updates:
        file.write_text(_lowered(text, section, less), encoding="utf-8")
        less = {}
    more = {
        name: f"{number}, and at most {allowed.get(name, limit)}"
        for name, number in numbers.items()
        if number > allowed.get(name, limit)
    }
    if section == "statements" and more:
        more |= {"grown": "; ".join(one for name in more for one in grown(name))}
    where = f"{file.name}, [{section}]"
    assert not more, f"{where}: more than is allowed: {more}"
    assert not less, f"{where}: lower these, which --update-budget does: {less}"


def _lowered(text: str, section: str, numbers: dict[str, int | None]) -> str:
    """A file of numbers with those of a section put in; None takes a line away."""
    before, head, rest = text.partition(f"[{section}]\n")
    own, following, after = rest.partition("\n[")
    for name, number in numbers.items():
        line = re.compile(rf'^"{re.escape(name)}" = \d+(.*\n?)', re.M)
        new = "" if number is None else rf'"{name}" = {number}\1'
        own = line.sub(new, own)
    return before + head + own + following + after
