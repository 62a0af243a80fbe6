"""Where saftc keeps what it need not do twice."""

import os
from pathlib import Path

from platformdirs import user_cache_path


def cache_folder() -> Path:
    """`SAFT_CACHE_DIR`, or saftc's folder in the user's cache; it need not exist."""
    chosen = os.environ.get("SAFT_CACHE_DIR")
    return Path(chosen) if chosen else user_cache_path("saftc", appauthor=False)


def cache_in_use() -> Path | None:
    """The same, unless SAFT_NO_CACHE says that nothing is to be remembered."""
    return None if os.environ.get("SAFT_NO_CACHE") else cache_folder()
