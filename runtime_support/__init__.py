"""What compiled Saft modules import; usable by hand from Python as well.

    from runtime_support import prompt
    prompt("how many vowels are in {word}?", word="strawberry", returns=int).value

Names are loaded at their first use, so that a script without prompts starts like plain Python.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runtime_support import ops
    from runtime_support._ambiguity import ambiguous, option
    from runtime_support._effects import in_thread
    from runtime_support._exchange import Provider, Reply, Request, ToolRequest
    from runtime_support._jsontext import parse, to_json
    from runtime_support._language.failures import Failure, failure
    from runtime_support._language.files import (
        append_text,
        list_files,
        read_line,
        read_text,
        write_text,
    )
    from runtime_support._media import File, Image, file, image
    from runtime_support._observe.tracing import add_observer
    from runtime_support._overlap.calls import later, overlap, print, together
    from runtime_support._prompting import prompt
    from runtime_support._results import Result, ToolCall, Usage
    from runtime_support._schema import check
    from runtime_support._schema.rules import require
    from runtime_support._settings import Settings, configure, snapshot
    from runtime_support._tables import mean, read
    from runtime_support._values import kind, show
    from runtime_support.errors import (
        AuthenticationFailed,
        BudgetSpent,
        CheckError,
        ConfigError,
        ContractError,
        Failed,
        FileError,
        JournalError,
        MissingError,
        ProgramError,
        PromptError,
        ProviderError,
        ProviderTimeout,
        RateLimited,
        Refused,
        ReplayMiss,
        RunStopped,
        SaftError,
        ToolLimitError,
        ToolsUnsupported,
        TruncatedReply,
        ZeroError,
    )
    from runtime_support.programs._prompting import Plan, program, run
    from runtime_support.runs._keeper import journaled
    from runtime_support.runs._places import call_key, scoped
    from runtime_support.testing import Scripted

__all__ = [
    "AuthenticationFailed",
    "BudgetSpent",
    "CheckError",
    "ConfigError",
    "ContractError",
    "Failed",
    "Failure",
    "File",
    "FileError",
    "Image",
    "JournalError",
    "MissingError",
    "Plan",
    "ProgramError",
    "PromptError",
    "Provider",
    "ProviderError",
    "ProviderTimeout",
    "RateLimited",
    "Refused",
    "ReplayMiss",
    "Reply",
    "Request",
    "Result",
    "RunStopped",
    "SaftError",
    "Scripted",
    "Settings",
    "ToolCall",
    "ToolLimitError",
    "ToolRequest",
    "ToolsUnsupported",
    "TruncatedReply",
    "Usage",
    "ZeroError",
    "add_observer",
    "ambiguous",
    "append_text",
    "call_key",
    "check",
    "configure",
    "failure",
    "file",
    "image",
    "in_thread",
    "journaled",
    "kind",
    "later",
    "list_files",
    "mean",
    "ops",
    "option",
    "overlap",
    "parse",
    "print",
    "program",
    "prompt",
    "read",
    "read_line",
    "read_text",
    "require",
    "run",
    "scoped",
    "show",
    "snapshot",
    "to_json",
    "together",
    "write_text",
]

# Where the names are that are no errors.
_HOMES = {
    "_settings": "Settings configure snapshot",
    "_exchange": "Provider Reply Request ToolRequest",
    "_language.failures": "Failure failure",
    "_language.files": "append_text list_files read_line read_text write_text",
    "_jsontext": "parse to_json",
    "_media": "File Image file image",
    "_overlap.calls": "later overlap print together",
    "_prompting": "prompt",
    "_results": "Result ToolCall Usage",
    "runs._keeper": "journaled",
    "runs._places": "call_key scoped",
    "_schema": "check",
    "_schema.rules": "require",
    "_tables": "mean read",
    "_observe.tracing": "add_observer",
    "_values": "kind show",
    "_effects": "in_thread",
    "_ambiguity": "ambiguous option",
    "programs._prompting": "Plan program run",
    "testing": "Scripted",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "ops":
        return importlib.import_module("runtime_support.ops")
    home = next((home for home, names in _HOMES.items() if name in names.split()), "errors")
    value = globals()[name] = getattr(importlib.import_module(f"runtime_support.{home}"), name)
    return value


def __dir__() -> list[str]:
    return __all__


def _main_has_its_map() -> bool:
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    return path is not None and os.path.isfile(f"{path}.map")


# In a program that imports compiled modules Python's own report of uncaught errors stays as it is.
if _main_has_its_map():
    from runtime_support import _positions as positions

    positions.install()
