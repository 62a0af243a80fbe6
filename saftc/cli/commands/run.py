"""Runs a script: compiles it in memory, executes it, and reports errors in terms of the script."""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from functools import partial
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import runtime_support
from runtime_support._core.tasks import turns as order
from saftc.cli.commands.approve import is_attended, let_person_decide
from saftc.cli.progress import report_usage, show_prompts
from saftc.diagnostics.styled import plain
from saftc.project.cache import CompiledModule
from saftc.project.files import UNNAMED, FileProblem, shown
from saftc.project.finder import folder_of, package_in, sibling
from saftc.project.workspace import Workspace
from saftc.reporting import WrongUsage, show_error, visible, width_of, write_rendered
from saftc.running import Running, importing_file, is_of_library, remember_lines, run_text

if TYPE_CHECKING:
    from importlib.abc import Loader

Ended: TypeAlias = Literal["ok", "failed", "interrupted", "waiting"]


_NOTHING_KEPT = "; nothing of this run is kept: repeat it with --journal FILE to decide later"
# How a module imports the function that makes calls wait.
_APPROVES = re.compile(r"^from runtime_support import [^)]*?\bapprove\b", re.MULTILINE)


def run_module(module: CompiledModule, workspace: Workspace, arguments: Sequence[str]) -> int:
    """Runs a script that has no errors, with `arguments` as `sys.argv[1:]`. Returns the exit code.

    `workspace` compiles the siblings that the script imports. An uncaught error is shown on
    standard error.
    """
    folder, root = folder_of(module.script), workspace.roots.of(module.script)
    command = sys.argv[1:]
    sys.argv = [shown(module.script), *arguments]
    sys.path.insert(0, str(root.absolute()))
    if module.script in UNNAMED:
        # Traces of the run show its lines.
        text = workspace.reads.data(module.script).decode("utf-8", "replace")
        remember_lines(shown(module.script), text)
    scripts: dict[str, Running] = {}
    package = package_in(root, Path(module.script))
    names = frozenset(module.scripts)
    sys.meta_path.insert(0, _LibraryFinder(str(root.absolute())))
    sys.meta_path.insert(0, _SiblingFinder(root, package, names, workspace, scripts))
    # Types resolve the names in their annotations in the module that defines them.
    main = sys.modules["__main__"] = ModuleType("__main__")
    main.__package__ = package or None
    # The folder from which the runtime resolves a script's relative paths.
    main.__dict__["__saft_folder__"] = str(folder.resolve())
    show_prompts(partial(_most_prompts, module, workspace))
    if sys.stdout.isatty():
        order.print_values = _print_visibly
    refusal = _begin_records(command)
    if refusal is not None:
        return refusal
    let_person_decide()
    ended: Ended = "failed"
    error = ""
    try:
        with _workflow(shown(module.script)):
            if package:
                import_module(package)  # as Python runs a package before its modules
            _execute(module, main, workspace, scripts)
        ended = "ok"
    except SystemExit as end:
        if end.code:
            error = f"exit code {end.code}"
            raise
        ended = "ok"
    except KeyboardInterrupt:
        ended = "interrupted"
        raise
    except runtime_support.RunWaiting as waiting:
        ended = "waiting"
        show_error(str(waiting) + ("" if os.environ.get("SAFT_JOURNAL") else _NOTHING_KEPT))
    except BaseException as failure:
        from saftc.cli.failures import explain, is_of_saft

        error = plain(explain(failure, scripts))
        if isinstance(failure, BrokenPipeError) and is_of_saft(failure, scripts):
            raise  # the reader of the script's output has closed the pipe
        sys.stdout.flush()
        write_rendered(explain(failure, scripts, width_of(sys.stderr)), sys.stderr)
    finally:
        problem = _end_run(ended, error, scripts)
        if problem is not None:
            show_error(problem)
    if problem is not None:
        return 1
    if ended == "waiting":
        return runtime_support.RunWaiting.exit_code
    return 0 if ended == "ok" else 1


def _most_prompts(module: CompiledModule, workspace: Workspace) -> int | None:
    """The largest number of prompts that a script can send; None if there is no bound."""
    from runtime_support.errors import ConfigError
    from saftc.cost.requests import ProgramBounds
    from saftc.cost.settings import project_limits
    from saftc.project.settings import Project

    with suppress(FileProblem, ConfigError):
        # A prompt sends one request if there are no repairs and no rounds of tools.
        limits = project_limits()._replace(max_repairs=0, max_tool_rounds=0)
        checked = workspace.check(module.script)
        bounds = ProgramBounds(checked.facts, checked.source, limits, Project().compiling())
        return bounds.program.bound.number
    return None


def refuse_undecided(module: CompiledModule) -> None:
    """Refuses a run in which no person could decide about calls that wait for approval.

    Scripts that import Python modules are not refused, as a module may set an approver.

    Raises:
        WrongUsage: The script has such calls, and there is neither a person to ask nor a journal.
    """
    if module.imports_python or not _APPROVES.search(module.text or ""):
        return
    from runtime_support._core.settings import settings_to_show

    can_ask = is_attended() or settings_to_show().approver is not None
    if not can_ask and not os.environ.get("SAFT_JOURNAL"):
        raise WrongUsage(
            f"calls of {shown(module.script)} wait for approval: run it at a terminal, which asks "
            "you, or with --journal FILE, and decide with `saftc approve`"
        )


def _workflow(name: str) -> AbstractContextManager[None]:
    """The OpenTelemetry span of the run, if OpenTelemetry is loaded."""
    if "opentelemetry.trace" not in sys.modules:
        return nullcontext()
    from runtime_support._observability.spans import workflow

    return workflow(name)


def _begin_records(command: list[str]) -> int | None:
    """Starts the drawing, the recording and the journal of the run.

    Returns the exit code if that fails.
    """
    problem, code = begin_drawing(), 2
    if problem is None:
        problem, code = _recording_problem() or _journal_problem(command), 1
    if problem is None:
        return None
    show_error(problem)
    return code


def begin_drawing() -> str | None:
    """Starts the drawing of the run's requests if an environment variable asks for it.

    Returns a message if the drawing or the log cannot be written. A run without prompts is drawn,
    too: otherwise an older page would be taken for the page of this run.
    """
    if not any(map(os.environ.get, ("SAFT_TIMELINE", "SAFT_CHROME", "SAFT_LOG"))):
        return None
    from runtime_support._language.files import check_can_write
    from runtime_support.errors import ConfigError
    from saftc.trace.timeline import begin_timeline

    try:
        begin_timeline()
        if os.environ.get("SAFT_LOG"):
            check_can_write(os.environ["SAFT_LOG"], "the log")
    except ConfigError as problem:
        return str(problem)
    return None


def _recording_problem() -> str | None:
    """Opens the recordings of the run, if it has any. Returns the reason if that fails.

    They are opened before the script runs, as the script could catch the failure.
    """
    replay, record = os.environ.get("SAFT_REPLAY"), os.environ.get("SAFT_RECORD")
    if not replay and not record:
        return None
    from runtime_support._recordings import RecordingHook
    from runtime_support.errors import ConfigError

    try:
        hook = RecordingHook(replay or None, record or None)
        if hook.record is not None:
            hook.record.check()
    except ConfigError as error:
        return str(error)
    return None


def _journal_problem(command: list[str]) -> str | None:
    """Opens the journal of the run, if it has one. Returns the reason if that fails.

    The journal is opened before the script runs, as the script could catch the failure.
    """
    if not os.environ.get("SAFT_JOURNAL"):
        return None
    from runtime_support._core.scopes import begin_run
    from runtime_support._core.settings import settings_for
    from runtime_support._journal.hook import current_journal
    from runtime_support._journal.journal import note_command
    from runtime_support.errors import SaftError

    begin_run()
    note_command(command, os.getcwd())
    try:
        current_journal(settings_for())
    except SaftError as error:
        return str(error)
    return None


def _end_run(ended: Ended, error: str, scripts: Mapping[str, Running]) -> str | None:
    """Closes the journals of the run, reports its end and its usage, and draws it.

    Returns the reason if its replies could not be recorded, unless that was reported already.
    """
    problem = None
    if "saftc.trace.person" in sys.modules:
        from saftc.trace.person import show_end

        show_end()
    from runtime_support._core.hooks import loaded_part

    if loaded_part("journals") is not None:
        from runtime_support._journal.hook import close_journals
        from runtime_support._journal.journal import note_command
        from runtime_support.errors import JournalError

        note_command([], "")
        try:
            close_journals(ended)
        except JournalError as failure:
            problem = str(failure)
    report_usage()
    if problem is not None and ended == "ok":
        ended, error = "failed", problem
    end_drawing(ended, error, scripts)
    return problem


def end_drawing(
    ended: Ended, error: str = "", scripts: "Mapping[str, Running]" = MappingProxyType({})
) -> None:
    """Draws the run and the way it ended, if a drawing was started."""
    if "saftc.trace.timeline" in sys.modules:
        from saftc.trace.timeline import write_timeline

        write_timeline(ended, error, lambda: _overlaps(scripts))


def _overlaps(scripts: Mapping[str, Running]) -> dict[str, str]:
    """Maps the place of each prompt to a text that says how it overlaps, or why it does not."""
    from saftc.previews.requests import overlaps

    found: dict[str, str] = {}
    for one in scripts.values():
        with suppress(FileProblem):  # it has gone since
            if one.origin is not None:
                found |= overlaps(one.origin.generated.plan, one.origin.source)
    return found


def _execute(
    compiled: CompiledModule,
    module: ModuleType,
    workspace: Workspace,
    scripts: dict[str, Running],
) -> None:
    """Executes a compiled script as `module`, and registers it in `scripts` by its file name."""
    assert compiled.text is not None
    text = compiled.text
    filename = f"<compiled {shown(compiled.script)}>"
    scripts[filename] = Running(compiled, workspace)
    # The `print` of a compiled module that does not bind the name itself.
    module.__dict__["print"] = order.print_values
    run_text(text, filename, module.__dict__, scripts[filename])


def _print_visibly(*values: object, **manner: Any) -> None:
    """Prints for a terminal.

    Control characters, which a model's text may have, are made visible.
    """
    print(*(visible(str(value)) for value in values), **manner)


class _LibraryFinder:
    """Makes libraries find their imports among the libraries instead of beside the script.

    The runtime loads packages late, when the script's folder is on the path. If a file beside the
    script has the name of a package, only the script may import the file.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: object = None
    ) -> ModuleSpec | None:
        """The spec of a module that a library imports.

        The result is None unless the script's root has a module of the same name.
        """
        if path is not None or PathFinder.find_spec(fullname, [self._folder]) is None:
            return None
        file = importing_file(__file__)
        if file is None or not is_of_library(file):
            return None
        others = [entry for entry in sys.path if entry != self._folder]
        return PathFinder.find_spec(fullname, others)


class _SiblingFinder:
    """Lets a script import its siblings without module files on disk.

    It has the methods of both a finder and a loader. It has no base classes, as loading
    `importlib.abc` for them would take longer than the rest of this module.
    """

    def __init__(
        self,
        root: Path,
        package: str,
        names: frozenset[str],
        workspace: Workspace,
        scripts: dict[str, Running],
    ) -> None:
        self.root = root
        # The outermost package around the script; its Python modules may import its scripts.
        self.outermost = package.partition(".")[0]
        self.names = names
        self.workspace = workspace
        self.scripts = scripts

    def find_spec(
        self, fullname: str, path: object = None, target: object = None
    ) -> ModuleSpec | None:
        """The spec of a module that is a sibling script; None for other modules."""
        if not self._is_script(fullname, path):
            return None
        return ModuleSpec(fullname, cast("Loader", self))

    def _is_script(self, name: str, path: object) -> bool:
        if name in self.names:
            return True
        inside = bool(self.outermost) and name.startswith(f"{self.outermost}.")
        if not inside or sibling(name, self.root) is None:
            return False
        locations = list(cast("Sequence[str]", path or ()))
        return PathFinder.find_spec(name, locations) is None

    def create_module(self, spec: ModuleSpec) -> None:
        """Returns None, so that Python creates the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Executes the sibling's compiled text as the module."""
        path = sibling(module.__name__, self.root)
        assert path is not None
        compiled = self.workspace.compile(str(path))
        if compiled.text is None:
            raise SyntaxError(f"{path} has errors\n{plain(compiled.said).rstrip()}")
        _execute(compiled, module, self.workspace, self.scripts)
