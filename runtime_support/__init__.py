"""What compiled Saft modules import; usable by hand from Python as well.

    from runtime_support import prompt
    prompt("how many vowels are in {word}?", word="strawberry", returns=int).value

Names are loaded at their first use, so that a script without prompts starts like plain Python.
"""

from __future__ import annotations

import importlib
import os
import sys

from runtime_support._quick_typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runtime_support import ops
    from runtime_support._config import Settings, configure, snapshot
    from runtime_support._exchange import Provider, Reply, Request, ToolRequest
    from runtime_support._failures import Failure, failure
    from runtime_support._files import append_text, list_files, read_line, read_text, write_text
    from runtime_support._jsontext import parse, to_json
    from runtime_support._media import File, Image, file, image
    from runtime_support._overlap import later, overlap, print, together
    from runtime_support._prompting import prompt
    from runtime_support._results import Result, ToolCall, Usage
    from runtime_support._runs.keeping import journaled
    from runtime_support._runs.places import call_key, scoped
    from runtime_support._schema import check, require
    from runtime_support._tables import mean, read
    from runtime_support._tracing import add_observer
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
    from runtime_support.programs._outcomes import ambiguous, option
    from runtime_support.programs._prompting import Plan, program, run
    from runtime_support.providers._scripted import Scripted

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

_HOMES = {
    "Plan": "programs._prompting",
    "add_observer": "_tracing",
    "ambiguous": "programs._outcomes",
    "append_text": "_files",
    "BudgetSpent": "errors",
    "call_key": "_runs.places",
    "check": "_schema",
    "configure": "_config",
    "Failure": "_failures",
    "failure": "_failures",
    "File": "_media",
    "file": "_media",
    "Image": "_media",
    "image": "_media",
    "JournalError": "errors",
    "journaled": "_runs.keeping",
    "kind": "_values",
    "later": "_overlap",
    "list_files": "_files",
    "mean": "_tables",
    "option": "programs._outcomes",
    "overlap": "_overlap",
    "parse": "_jsontext",
    "print": "_overlap",
    "program": "programs._prompting",
    "prompt": "_prompting",
    "Provider": "_exchange",
    "read": "_tables",
    "read_line": "_files",
    "read_text": "_files",
    "Reply": "_exchange",
    "require": "_schema",
    "Request": "_exchange",
    "Result": "_results",
    "RunStopped": "errors",
    "run": "programs._prompting",
    "Scripted": "providers._scripted",
    "Settings": "_config",
    "scoped": "_runs.places",
    "show": "_values",
    "snapshot": "_config",
    "to_json": "_jsontext",
    "together": "_overlap",
    "ToolCall": "_results",
    "ToolRequest": "_exchange",
    "Usage": "_results",
    "write_text": "_files",
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
    from runtime_support import _positions as positions

    positions.install()
