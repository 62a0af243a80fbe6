"""The process of a command: its standard streams, its memory, and how it ends.

Exit codes: 0 fine; 1 something is wrong with a script or a file; 2 wrong usage; 3 a bug in saftc;
4 a run waits for approval.
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
    """Runs a command and ends the process with its exit code."""
    _open_closed_streams()
    print_everything(sys.stderr)
    try:
        code = command()
        sys.stdout.flush()
    except WrongUsage as problem:
        show_error(str(problem))
        code = 2
    except FileProblem as problem:
        show_error(str(problem))
        code = 1
    except KeyboardInterrupt:
        # From now on, a second interrupt ends the process at once.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        show_error("interrupted")
        code = INTERRUPTED
    except BrokenPipeError:
        # The reader of our output has closed the pipe.
        _give_up_output()
        code = 1
    except OSError as problem:
        if problem.filename is not None:
            _report_bug()
            code = 3
        else:
            _give_up_output()
            show_error(f"cannot write the output: {problem.strerror or problem}")
            code = 1
    except Exception as problem:
        code = 1 if _is_reported(problem) else 3
        if code == 1:
            show_error(str(problem))
        else:
            _report_bug()
    sys.exit(code)


def _is_reported(problem: Exception) -> bool:
    """Whether an exception is the runtime's, with a message for the user."""
    from runtime_support.errors import SaftError

    return isinstance(problem, SaftError)


@contextmanager
def needing(packages: str, advice: str) -> Generator[None, None, None]:
    """Guards the import of optional packages.

    Raises:
        FileProblem: One of the packages is missing; the text is the advice.
    """
    try:
        yield
    except ModuleNotFoundError as problem:
        if problem.name not in packages.split():
            raise
        raise FileProblem(advice) from None


def print_everything(stream: TextIO) -> None:
    """Makes a stream write characters outside of its encoding as backslash escapes."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")


@contextmanager
def no_garbage_collector() -> Generator[None, None, None]:
    """Disables garbage collection for a command that ends the process.

    A long script is a million objects. Unless they are frozen, later collections, above all the
    interpreter's last one, would traverse them to free what the end of the process frees anyway.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _open_closed_streams() -> None:
    """Replaces closed standard streams by empty ones, so that no file gets their descriptors."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            while (descriptor := os.open(os.devnull, os.O_RDWR)) < number:
                pass
            setattr(sys, name, os.fdopen(descriptor, "w" if number else "r", encoding="utf-8"))


def _give_up_output() -> None:
    """Discards the rest of standard output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _report_bug() -> None:
    import traceback

    traceback.print_exc()
    show_error(
        f"this is a bug in saftc {__version__}: please report it with the lines above and the "
        "script, if you can share it"
    )
