"""`saftc build`: compiles scripts to module files, and protects files that saftc did not write."""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from saftc.cli.flags import BuildOptions
from saftc.cli.process import no_garbage_collector
from saftc.project.cache import digest
from saftc.project.files import (
    UNNAMED,
    FileProblem,
    is_async_module,
    is_special,
    make_folder,
    may_overwrite,
    read_module,
    scripts_below,
    ships_settings,
    write_module,
)
from saftc.project.finder import Roots, folder_of, package_in
from saftc.project.reads import Reads
from saftc.project.settings import Project
from saftc.project.workspace import Workspace, load_compiler, open_workspace
from saftc.reporting import (
    WrongUsage,
    difference,
    refuse_wrong_settings,
    show_error,
    show_info,
    warn_of_name,
    width_of,
    write_rendered,
    write_result,
    wrong_setting,
)

# The field of a source map with the digest of its module's text.
DIGEST = "x_digest"
# The option that embeds the project's settings in modules, or not.
_EMBEDDING: dict[bool | None, list[str]] = {
    True: ["--embed-settings"],
    False: ["--no-embed-settings"],
    None: [],
}


def build_scripts(arguments: Sequence[str], options: BuildOptions) -> int:
    """Compiles scripts or plans to modules. Returns the exit code.

    With --watch, compiles them again whenever they change.
    """
    _refuse_combinations(options)
    arguments = arguments or _of_project(options.root)
    # Wrong usage is reported before anything else.
    _targets(arguments, options)
    refuse_wrong_settings()

    def opened(reads: Reads | None = None) -> Workspace:
        problem = wrong_setting(Project())
        if problem is not None:  # since the files are watched
            raise FileProblem(problem)
        return open_workspace(
            in_order=options.no_overlap,
            is_async=options.is_async,
            suffix=options.suffix,
            defaults=_shipped_settings(options.ships_settings, _targets(arguments, options)),
            root=options.root,
            reads=reads,
        )

    def write(workspace: Workspace, is_first: bool = True) -> bool:
        builder = Builder(workspace, options, is_again=not is_first)
        targets = _targets(arguments, options)
        if options.tools is not None:
            from saftc.cli.commands.build_plan import build_plans

            return build_plans(builder, options.tools, targets)
        return builder.build_all([one for one in targets if not workspace.has(one[0])])

    if options.watch:
        from saftc.cli.watching import refuse_watching, watch_scripts

        refused = {"--check": options.check, "--diff": options.diff, "--tools": options.tools}
        refuse_watching(arguments, refused, "writes the modules of scripts")
        # The first round does not load the compiler if all scripts are cached.
        watch_scripts(arguments, opened, write, load=load_compiler)
    with no_garbage_collector():
        return 0 if write(opened()) else 1


def _refuse_combinations(options: BuildOptions) -> None:
    if options.in_place and (options.output is not None or options.out_dir is not None):
        raise WrongUsage("--in-place writes each module beside its script: leave -o, --out-dir out")
    suffix = options.suffix
    if suffix and not options.is_async:
        raise WrongUsage("--suffix names the modules of the async form: give --async as well")
    if suffix and not f"x{suffix}".isidentifier():
        raise WrongUsage(f"--suffix {suffix}: a module cannot have a name with this suffix")


def _of_project(root: Path | None) -> list[str]:
    """The folder to build if no script is named.

    Raises:
        WrongUsage: The project does not set `in-place`.
    """
    project = Project()
    if not project.builds_in_place:
        raise WrongUsage(
            "name the scripts or folders to build; without names, saftc build builds all scripts "
            "of a project whose pyproject.toml says [tool.saft] in-place = true"
        )
    return [os.path.relpath(root or project.root or Path())]


def _targets(arguments: Sequence[str], options: BuildOptions) -> list[tuple[str, Path | None]]:
    """Pairs each script or plan that the arguments name with the path of its module.

    The path is None for standard output.
    """
    output, out_dir = options.output, options.out_dir
    files = [(file, Path(one)) for one in arguments for file in scripts_below(one, (".json",))]
    names = [file for file, _ in files]
    if output is not None and (names != [*arguments] or len(files) > 1 or out_dir is not None):
        raise WrongUsage("-o names one module: give it one script, or use --out-dir")
    roots = Roots(options.root)
    found = [(file, _target(file, argument, options, roots)) for file, argument in files]
    _refuse_mixture(names, options)
    _refuse_collisions(found)
    if out_dir is not None and not (options.check or options.diff):
        for folder in {target.parent for _, target in found if target is not None}:
            make_folder(folder)
    return found


def _refuse_mixture(files: Sequence[str], options: BuildOptions) -> None:
    """Raises WrongUsage if plans are built without --tools, or scripts with --tools."""
    plans = [file for file in files if file.endswith(".json")]
    if plans and options.tools is None:
        raise WrongUsage(f"{plans[0]} is a plan: name the module of its functions, --tools MODULE")
    if options.tools is not None and len(plans) < len(files):
        script = next(file for file in files if file not in plans)
        raise WrongUsage(
            f"--tools is for plans, and {script} is not a plan: name it NAME.json, or leave "
            "--tools out"
        )
    for option, is_given in (("--source-map", options.source_map), ("--async", options.is_async)):
        if plans and is_given:
            raise WrongUsage(f"{option} is for scripts")


class Builder:
    """Writes the modules of scripts and of their imported siblings. Each module is written once.

    A rebuild does not report unchanged modules.
    """

    def __init__(
        self, workspace: Workspace, options: BuildOptions, *, is_again: bool = False
    ) -> None:
        self.workspace = workspace
        self.options = options
        self.only_compares = options.check or options.diff
        self.is_again = is_again
        # The script of each module that has been handled.
        self.done: dict[Path, Path] = {}
        self.has_failed = False

    def build_all(self, targets: Sequence[tuple[str, Path | None]]) -> bool:
        """Compiles each script to its target, or to standard output if the target is None.

        Returns whether all succeeded.
        """
        try:
            # Importers first: they set the root of the scripts that they import.
            for file, target in sorted(targets, key=_depth):
                self._build(file, target)
        finally:
            self.workspace.close()
        return not self.has_failed

    def _build(self, file: str, target: Path | None) -> None:
        try:
            module = self.workspace.compile(file)
        except FileProblem as problem:
            show_error(str(problem))
            self.has_failed = True
            return
        said = self.workspace.diagnostics_of(module, width_of(sys.stderr), when_used=False)
        write_rendered(said, sys.stderr)
        if target is not None and self.options.output is None and not self._is_async(file):
            target = target.with_stem(target.stem.removesuffix(self.options.suffix))
        if module.text is None:
            self.has_failed = True
        elif target is None:
            write_result(module.text)
        else:
            if not self._has_own_root(file) and Path(file) in self.done.values():
                return  # written below the module that imports it
            if not is_special(target):
                package = package_in(self.workspace.roots.of(file), Path(file))
                warn_of_name(target.stem, file, package)
            places = [(file, target)]
            for path in self.workspace.siblings(module):
                suffix = self.options.suffix if self._is_async(str(path)) else ""
                place = _beside(path, Path(file), target, suffix)
                if place is None:
                    outside = f"{path} would be written outside of the folder of {target}"
                    show_error(f"{outside}: use --out-dir, and not -o")
                    self.has_failed = True
                    return
                places.append((str(path), place))
            if any([self._is_of_other_form(*one) for one in places]):
                return
            for script, place in places:
                if script != file and not self.only_compares and not self.has_failed:
                    make_folder(place.parent)
                self._put(script, place)
                if self.options.suffix and not self._is_async(script):
                    self._remove_async(script, place)

    def _is_async(self, file: str) -> bool:
        """Whether the module of a script is in async form."""
        text = self.workspace.compile(file).text
        return text is not None and is_async_module(text)

    def _is_of_other_form(self, file: str, target: Path) -> bool:
        """Whether either the existing module or the new one is in async form, but not both.

        If so, reports that the existing module would be replaced.
        """
        existing = None if is_special(target) or self.options.force else read_module(target)
        if self.only_compares or existing is None or not may_overwrite(target):
            return False
        if is_async_module(existing) == self._is_async(file):
            return False
        if self._is_async(file):
            form, hint = "plain", "--suffix _async gives the async modules other names"
        else:
            form, hint = "async", "-o and --out-dir write the plain form elsewhere"
        show_error(f"{target} is the {form} form of {file}; {hint}, --force overwrites it")
        self.has_failed = True
        return True

    def _remove_async(self, file: str, target: Path) -> None:
        """Removes the async module of a script that has no async form any more.

        With --check or --diff, only reports it.
        """
        stale = target.with_stem(target.stem + self.options.suffix)
        existing = read_module(stale)
        if existing is None or not may_overwrite(stale) or not is_async_module(existing):
            return
        if self.only_compares:
            self._compare([file], existing, "", stale)
        else:
            stale.unlink()
            show_info(f"{stale} removed: {file} has no async form any more")

    def _has_own_root(self, file: str) -> bool:
        roots = self.workspace.roots
        return roots.is_set_by_project(file) or self.workspace.roots.of(file) == folder_of(file)

    def _put(self, file: str, target: Path) -> None:
        """Writes or compares the module of a script, and writes its source map if requested."""
        script = Path(file)
        other = self.done.setdefault(target, script)
        if other is not script:
            if other != script:
                show_error(f"{other} and {script} would both become {target}")
                self.has_failed = True
            return
        text = self.workspace.compile(file).text
        assert text is not None
        if not self.put(file, text, target):
            return
        path = target.with_name(target.name + ".map")
        if self.options.source_map:
            module = self.workspace.compile_with_map(file, target.name)
            if read_module(path) != module.source_map:
                write_module(path, module.source_map)
        elif path.is_file() and _is_older(path, text):
            path.unlink()
            show_info(f"{path} removed: it belonged to an older {target.name}")

    def put(self, file: str, text: str, target: Path, *more: str) -> bool:
        """Writes the module made from `file`, or with --check or --diff compares it.

        Returns True if `target` is a regular file that was written or already had this text, and
        False after a comparison. Messages show the command that builds the module. `more` are the
        words of this command after the file.
        """
        if is_special(target):
            write_module(target, text)
            return False
        existing = read_module(target)
        if self.only_compares:
            self._compare([file, *more], existing, text, target)
            return False
        if target.exists() and file not in UNNAMED and target.samefile(file):
            show_error(f"{target} is the script itself; name another file with -o")
            self.has_failed = True
            return False
        if not self.options.force and not may_overwrite(target):
            show_error(f"{target} was not written by saftc; --force overwrites it")
            self.has_failed = True
            return False
        if existing == text:
            if not self.is_again:
                show_info(f"{target} is up to date")
        else:
            write_module(target, text)
            show_info(f"{file} -> {target}")
        return True

    def _compare(
        self, words: Sequence[str], existing: str | None, text: str, target: Path
    ) -> None:
        if existing == text:
            return
        if self.options.diff:
            write_result(difference(existing, text, str(target), "compiled"))
        if self.options.check:
            command = " ".join(["saftc build", *_words_of(self.options), *words])
            show_info(f"{target} is out of date: run `{command}`")
            self.has_failed = True


def _words_of(options: BuildOptions) -> list[str]:
    """The options that affect the text of modules, as words of the command line."""
    return [
        *(["--async"] if options.is_async else []),
        *(["--suffix", options.suffix] if options.suffix else []),
        *_EMBEDDING[options.ships_settings],
    ]


def _keeps_settings(targets: Iterable[tuple[str, Path | None]]) -> bool:
    """Whether the existing modules set `defaults`, so that new ones will too.

    Raises:
        WrongUsage: Some of the modules set `defaults`, and others do not.
    """
    own = [path for _, path in targets if path is not None and not is_special(path)]
    found = {
        path: ships
        for path in own
        if may_overwrite(path)
        and (text := read_module(path)) is not None
        and (ships := ships_settings(text)) is not None
    }
    if len(set(found.values())) < 2:
        return any(found.values())
    by_ships = {ships: path for path, ships in found.items()}
    raise WrongUsage(
        f"{by_ships[True]} embeds the project's settings, and {by_ships[False]} does not: "
        "use --embed-settings or --no-embed-settings"
    )


def _shipped_settings(is_wanted: bool | None, targets: Iterable[tuple[str, Path | None]]) -> str:
    """The project's prompt settings to embed in modules, in JSON. Settings of a run are left out.

    The result is empty if `is_wanted` is False. If it is None, the settings are embedded if the
    existing modules embed them.

    Raises:
        FileProblem: The file cannot be read, or a setting is unknown or ill-typed.
    """
    if not (_keeps_settings(targets) if is_wanted is None else is_wanted):
        return ""
    from runtime_support._core.settings.checks import checked_option
    from runtime_support._core.settings.configuration import OF_THE_RUN
    from runtime_support.errors import ConfigError

    project = Project()
    try:
        found = {
            name: checked_option(name, value, f"{project.path} [tool.saft]")
            for name, value in project.of_prompts.items()
            if name not in OF_THE_RUN
        }
    except ConfigError as problem:
        raise FileProblem(str(problem)) from None
    return json.dumps(found, sort_keys=True)


def _beside(script: Path, importing: Path, target: Path, suffix: str) -> Path | None:
    """The path of an imported script's module.

    `target` is the module of the script `importing`. Relative to `target`, the path is the same as
    that of `script` relative to `importing`. The result is None if the path is outside of the
    packages of `target`.
    """
    parts = Path(os.path.relpath(_module_of(script, suffix), importing.parent)).parts
    up = parts.count("..")
    own, above = importing.absolute().parents[:up], target.absolute().parents[:up]
    if [one.name for one in own] != [one.name for one in above]:
        return None
    return Path(os.path.normpath(target.parent.joinpath(*parts)))


def _module_of(script: Path, suffix: str) -> Path:
    return script.with_name(f"{script.stem}{suffix}.py")


def _target(file: str, argument: Path, options: BuildOptions, roots: Roots) -> Path | None:
    """The path of the module for `file`; None for standard output.

    In `out_dir`, the module keeps the path that the script has below its root. If the root is the
    script's own folder, the module keeps the path below the folder given as `argument`.
    """
    if options.output is not None:
        return None if options.output == "-" else Path(options.output)
    if file == "-":
        return None
    script = Path(file)
    if options.out_dir is None:
        return _module_of(script, options.suffix)
    root = roots.of(file)
    if roots.is_set_by_project(file) or root != folder_of(file):
        inner = Path(os.path.relpath(file, root))
    else:
        inner = Path(script.name) if script == argument else script.relative_to(argument)
    return options.out_dir / _module_of(inner, options.suffix)


def _refuse_collisions(targets: Sequence[tuple[str, Path | None]]) -> None:
    """Raises FileProblem if two scripts would become one module."""
    seen: dict[Path, str] = {}
    for file, target in targets:
        if target is None:
            continue
        if seen.get(target, file) != file:
            raise FileProblem(f"{seen[target]} and {file} would both become {target}")
        seen[target] = file


def _depth(pair: tuple[str, Path | None]) -> int:
    return len(Path(pair[0]).absolute().parts)


def _is_older(path: Path, text: str) -> bool:
    """Whether a source map that saftc wrote belongs to another text of the module."""
    try:
        data: Any = json.loads(read_module(path) or "null")
    except ValueError:
        return False
    return isinstance(data, dict) and data.get(DIGEST) not in (None, digest(text.encode()))  # pyright: ignore[reportUnknownMemberType]
