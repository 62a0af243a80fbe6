"""The user's cache folder, and the rules by which saftc trusts the files in it.

    write_cached(cache_folder() / "modules" / name, data)
    read_cached(cache_folder() / "modules" / name)      the same bytes, or None

The cached modules are run later, so only the user may write to the cache: folders have mode 0700
and files 0600. Folders and files are not used if they belong to another user, if others may write
to them, or if they are symbolic links.
"""

import os
import re
import stat
import sys
from functools import cache
from pathlib import Path

_KEPT = re.compile(r"[0-9a-f]{64}(\.json)?(\.[0-9]+)?")

_OTHERS_MAY_WRITE = stat.S_IWGRP | stat.S_IWOTH


def cache_folder() -> Path:
    """The folder that SAFT_CACHE_DIR names, or saftc's folder in the user's cache.

    The folder need not exist.
    """
    chosen = os.environ.get("SAFT_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = _plain_base("XDG_CACHE_HOME", ".cache")
    if base is not None:
        return Path(base, "saftc")
    from platformdirs import user_cache_path

    return user_cache_path("saftc", appauthor=False)


def has_settings() -> bool:
    """Whether the user has a settings file for the runtime."""
    base = _plain_base("XDG_CONFIG_HOME", ".config")
    if base is not None:
        return Path(base, "saft", "config.toml").is_file()
    from platformdirs import user_config_path

    return (user_config_path("saft", appauthor=False) / "config.toml").is_file()


def _plain_base(variable: str, folder: str) -> str | None:
    """The base folder by platformdirs' rules for a usual Linux system.

    The result is None if platformdirs has to decide. Usually platformdirs need not be imported,
    which would take half as long as all other work for running a cached script.
    """
    if sys.platform != "linux" or "ANDROID_ROOT" in os.environ:
        return None
    chosen, home = os.environ.get(variable, ""), os.environ.get("HOME", "")
    if os.path.isabs(chosen):
        return chosen
    return os.path.join(home, folder) if os.path.isabs(home) else None


def cache_in_use() -> Path | None:
    """The cache folder; None if SAFT_NO_CACHE is set."""
    return None if os.environ.get("SAFT_NO_CACHE") else cache_folder()


def read_cached(path: Path) -> bytes | None:
    """The bytes that `write_cached` wrote to `path`; None if they are missing or not trusted."""
    if not _is_own_folder(path.parent):
        return None
    try:
        # Check the open file, not the path: the path may name another file a moment later.
        with open(path, "rb", opener=_open_no_link) as file:
            return file.read() if _is_own_file(os.fstat(file.fileno())) else None
    except OSError:
        return None


def write_cached(path: Path, data: bytes) -> bool:
    """Writes `data` to `path` atomically. Returns whether the file was written."""
    half = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.parent.mkdir(exist_ok=True, mode=0o700)
        if not _is_own_folder(path.parent):
            return False
        try:
            half.unlink(missing_ok=True)
            with open(half, "xb", opener=_open_private) as file:
                file.write(data)
            os.replace(half, path)
        finally:
            half.unlink(missing_ok=True)
    except OSError:
        return False
    return True


def cached_files(folder: Path) -> list[Path]:
    """The files that `write_cached` wrote to `folder`; none if the folder is not trusted."""
    if not _is_own_folder(folder):
        return []
    try:
        with os.scandir(folder) as found:
            return [
                Path(entry.path)
                for entry in found
                if _KEPT.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)
            ]
    except OSError:
        return []


def _is_own_folder(folder: Path) -> bool:
    """Whether the folder is trusted.

    It must belong to the user, only the user may write to it, and it must not be a link.
    """
    try:
        state = folder.lstat()
    except OSError:
        return False
    why = None
    if stat.S_ISLNK(state.st_mode):
        why = "is a link"
    elif os.name == "posix" and state.st_uid != os.geteuid():
        why = "belongs to another user"
    elif os.name == "posix" and state.st_mode & _OTHERS_MAY_WRITE:
        why = "can be written by others"
    if why is not None:
        _tell_unused(folder, why)
    return why is None and stat.S_ISDIR(state.st_mode)


def _is_own_file(state: os.stat_result) -> bool:
    if not stat.S_ISREG(state.st_mode) or os.name != "posix":
        return stat.S_ISREG(state.st_mode)
    return state.st_uid == os.geteuid() and not state.st_mode & _OTHERS_MAY_WRITE


@cache
def _tell_unused(folder: Path, why: str) -> None:
    print(
        f"saftc: {folder} {why}, so saftc does not use it as its cache; "
        f"SAFT_CACHE_DIR names another folder",
        file=sys.stderr,
    )


def _open_no_link(path: str, flags: int) -> int:
    # Opening a pipe of this name must not block.
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0), 0o600)
