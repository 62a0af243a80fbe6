"""saftc: a compiler from the prompt-script language Saft to readable Python.

    saftc.check_source(text), saftc.compile_source(text), saftc.run_source(text)

These functions do with texts what `saftc check`, `build` and `run` do with files. They come from
`saftc.api`, which is imported when one of them is first used.
"""

from typing import TYPE_CHECKING

from saftc._version import __version__ as __version__

if TYPE_CHECKING:
    from saftc.api import Problem as Problem
    from saftc.api import SourceError as SourceError
    from saftc.api import check_source as check_source
    from saftc.api import compile_source as compile_source
    from saftc.api import run_source as run_source

__all__ = ["Problem", "SourceError", "check_source", "compile_source", "run_source"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from saftc import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def load_ipython_extension(shell: object) -> None:
    """Registers the cell magic `%%saft` in IPython. IPython calls it for `%load_ext saftc`."""
    from saftc.notebook import register

    register(shell)
