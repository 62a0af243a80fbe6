"""What compiled Saft modules import; usable by hand from Python as well.

    from runtime_support import prompt
    prompt("how many vowels are in {word}?", word="strawberry", returns=int).value

Names are loaded at their first use, so that a script without prompts starts like plain Python.
"""

from __future__ import annotations

import importlib
import os
import sys

from runtime_support.quick_typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runtime_support import ops
    from runtime_support.checks import check
    from runtime_support.config import configure
    from runtime_support.errors import (
        AuthenticationFailed,
        CheckError,
        ConfigError,
        ContractError,
        FileError,
        MissingError,
        ProgramError,
        PromptError,
        ProviderError,
        ProviderTimeout,
        RateLimited,
        Refused,
        ReplayMiss,
        SaftError,
        ToolLimitError,
        ToolsUnsupported,
        TruncatedReply,
        ZeroError,
    )
    from runtime_support.files import list_files, read_text, write_text
    from runtime_support.jsontext import parse, to_json
    from runtime_support.media import File, Image, file, image
    from runtime_support.programs.outcomes import ambiguous, option
    from runtime_support.programs.prompting import Plan, program, run
    from runtime_support.prompting import prompt
    from runtime_support.results import Result, ToolCall, Usage
    from runtime_support.tables import mean, read
    from runtime_support.values import kind, show

__all__ = [
    "AuthenticationFailed",
    "CheckError",
    "ConfigError",
    "ContractError",
    "File",
    "FileError",
    "Image",
    "MissingError",
    "Plan",
    "ProgramError",
    "PromptError",
    "ProviderError",
    "ProviderTimeout",
    "RateLimited",
    "Refused",
    "ReplayMiss",
    "Result",
    "SaftError",
    "ToolCall",
    "ToolLimitError",
    "ToolsUnsupported",
    "TruncatedReply",
    "Usage",
    "ZeroError",
    "ambiguous",
    "check",
    "configure",
    "file",
    "image",
    "kind",
    "list_files",
    "mean",
    "ops",
    "option",
    "parse",
    "program",
    "prompt",
    "read",
    "read_text",
    "run",
    "show",
    "to_json",
    "write_text",
]

_HOMES = {
    "Plan": "programs.prompting",
    "ambiguous": "programs.outcomes",
    "check": "checks",
    "configure": "config",
    "File": "media",
    "file": "media",
    "Image": "media",
    "image": "media",
    "kind": "values",
    "list_files": "files",
    "mean": "tables",
    "option": "programs.outcomes",
    "parse": "jsontext",
    "program": "programs.prompting",
    "prompt": "prompting",
    "read": "tables",
    "read_text": "files",
    "Result": "results",
    "run": "programs.prompting",
    "show": "values",
    "to_json": "jsontext",
    "ToolCall": "results",
    "Usage": "results",
    "write_text": "files",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "ops":
        return importlib.import_module("runtime_support.ops")
    home = importlib.import_module(f"runtime_support.{_HOMES.get(name, 'errors')}")
    value = globals()[name] = getattr(home, name)
    return value


def __dir__() -> list[str]:
    return __all__


def _main_has_its_map() -> bool:
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    return path is not None and os.path.isfile(f"{path}.map")


# In a program that imports compiled modules Python's own report of uncaught errors stays as it is.
if _main_has_its_map():
    from runtime_support import positions

    positions.install()
