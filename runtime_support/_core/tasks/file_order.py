"""Reads and writes of files by calls that run early, which happen as in the script's order.

    wait_to_act()                   waits for the turn of the current call, and blocks the thread
    note_read(path)                 records a read: an earlier call may still write the file
    note_write(path, True)          records a write, here of a new file: early readers are rerun
"""

from __future__ import annotations

import os
from _thread import allocate_lock
from typing import TYPE_CHECKING
from weakref import WeakSet

from runtime_support._core.tasks.turns import current_task
from runtime_support._values.context import after_fork

if TYPE_CHECKING:
    from runtime_support._core.tasks.queue import Task

# Calls that have read files, maybe ahead of their turn.
_readers: WeakSet[Task] = WeakSet()
_lock = allocate_lock()


def wait_to_act() -> None:
    """Blocks until the current call has its turn, for example before it writes a file.

    Tool calls of one reply do not wait for each other here, because some may be coroutines, which
    cannot block.
    """
    task = current_task()
    while task is not None and task.queue.of_tools:
        task = task.parent
    if task is not None:
        for wait in task.wait_for_turn():
            wait.blocking()


def note_read(path: str, *, is_pattern: bool = False) -> None:
    """Records that the current call, and the calls that contain it, are about to read a file.

    If an earlier call then writes the file, these calls are rerun. `path` is a file. If
    `is_pattern`, it is a folder whose file names are listed at any depth.
    """
    task = current_task()
    while task is not None:
        if not task.queue.of_tools:
            with _lock:
                task.reads.add((path, is_pattern))
                _readers.add(task)
        task = task.parent


def note_write(path: str, is_new: bool) -> None:
    """Marks each call that read this file before its turn for a rerun.

    If the file `is_new`, also marks calls that listed its folder. `path` has no symlinks.
    """
    with _lock:
        for task in _readers:
            if not task.has_turn and any(_concerns(path, is_new, *read) for read in task.reads):
                task.is_stale = True


def _forget() -> None:
    """Resets the state after a fork, because a thread that no longer exists may hold the lock."""
    global _lock
    _lock = allocate_lock()
    _readers.clear()


def _concerns(path: str, is_new: bool, read: str, is_pattern: bool) -> bool:
    if not is_pattern:
        return path == read
    return is_new and path.startswith(os.path.join(os.path.realpath(read), ""))


after_fork(_forget)
