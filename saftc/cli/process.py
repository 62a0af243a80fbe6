"""The process of a command: its standard streams, garbage collection and exit code.

Exit codes: 0 success; 1 an error in a script or a file; 2 wrong usage; 3 a bug in saftc; 4 a run
waits for approval; 5 the budget of a job is spent; 130 interrupted.
"""

import gc
import io
import os
import signal
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import NoReturn, TextIO

from saftc._version import __version__
from saftc.project.files import FileProblem
from saftc.reporting import WrongUsage, show_error

INTERRUPTED = 130


def end(command: Callable[[], int]) -> NoReturn:
    """Runs a command, reports its exception, and ends the process with the exit code."""
    _open_closed_streams()
    print_everything(sys.stderr)
    try:
        code = command()
        sys.stdout.flush()
    except WrongUsage as problem:
        show_error(str(problem))
        code = 2
    except KeyboardInterrupt:
        # From now on, a second interrupt ends the process at once.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        show_error("interrupted")
        code = INTERRUPTED
    except BrokenPipeError:
        # The program that reads our standard output has closed the pipe.
        _give_up_output()
        code = 1
    except OSError as problem:
        name = problem.filename
        if name is None:
            _give_up_output()
            name = "cannot write the output"
        show_error(f"{name}: {problem.strerror or problem}")
        code = 1
    except Exception as problem:
        from runtime_support.errors import SaftError

        # The messages of these are meant for the user.
        if isinstance(problem, FileProblem | SaftError):
            show_error(str(problem))
            code = 1
        else:
            _report_bug()
            code = 3
    sys.exit(code)


@contextmanager
def needing(packages: str, advice: str) -> Generator[None, None, None]:
    """Turns the failed import of one of the optional `packages` into a message for the user.

    Raises:
        FileProblem: One of the packages is not installed. Its message is `advice`.
    """
    try:
        yield
    except ModuleNotFoundError as problem:
        if problem.name not in packages.split():
            raise
        raise FileProblem(advice) from None


def print_everything(stream: TextIO) -> None:
    """Makes a stream write a backslash escape for each character that its encoding lacks."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")


@contextmanager
def no_garbage_collector() -> Generator[None, None, None]:
    """Disables garbage collection in the block, and freezes the block's objects at its end.

    It is for commands that end the process. The tree of a long script has a million objects. Unless
    they are frozen, later collections, above all the one at the interpreter's exit, would traverse
    them for nothing: the end of the process frees their memory.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _open_closed_streams() -> None:
    """Opens the null device in place of each standard stream that was closed at the start.

    Otherwise, the next file opened would get the descriptor of the standard stream.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            while (descriptor := os.open(os.devnull, os.O_RDWR)) < number:
                pass
            setattr(sys, name, os.fdopen(descriptor, "w" if number else "r", encoding="utf-8"))


def _give_up_output() -> None:
    """Discards the text that standard output has buffered, and all text written to it later."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report_bug() -> None:
    import traceback

    traceback.print_exc()
    show_error(
        f"this is a bug in saftc {__version__}: please report it with the lines above and the "
        "script, if you can share it"
    )
