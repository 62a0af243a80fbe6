"""What runs in a forked process, which may kill itself."""

import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path


def comes_to_its_end(work: Callable[[], object], errors: Path) -> bool:
    """Does the work in a process of its own; whether that ended, and was not killed.

    What it writes on standard error is added to the file `errors`. Work that fails is an
    AssertionError with all of that.
    """
    child = os.fork()
    if child == 0:
        status = 1
        try:
            sys.stderr = errors.open("a")
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    _, ended = os.waitpid(child, 0)
    if os.WIFSIGNALED(ended):
        assert os.WTERMSIG(ended) == signal.SIGKILL
        return False
    assert os.WEXITSTATUS(ended) == 0, errors.read_text()
    return True
