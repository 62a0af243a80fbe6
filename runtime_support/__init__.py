"""Prompts as calls of functions: `prompt`, what goes into it and what comes out.

    from runtime_support import prompt
    prompt("how many vowels are in {word}?", word="strawberry", returns=int).value

Saft's builtins are in `ops`, plans in `programs`, journals in `runs`, what tests need in `testing`.
Names are loaded at their first use, so that a script without prompts starts like plain Python.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from runtime_support._values.lazy import load_lazily

if TYPE_CHECKING:
    from runtime_support import ops
    from runtime_support._core.messages import Provider, Reply, Request
    from runtime_support._core.messages import ToolRequest as ToolRequest
    from runtime_support._core.prompt import prompt
    from runtime_support._core.results import Result, ToolCall, Usage
    from runtime_support._core.scopes import idempotency_key as idempotency_key
    from runtime_support._core.scopes import journal_scope as journal_scope
    from runtime_support._core.settings import Settings, configure, current_settings, defaults
    from runtime_support._core.tasks.effects import in_thread
    from runtime_support._journal.approval import Decision, PendingCall, approve
    from runtime_support._journal.hook import journaled as journaled
    from runtime_support._language.failures import Failure as Failure
    from runtime_support._language.failures import failure as failure
    from runtime_support._language.files import append_text as append_text
    from runtime_support._language.files import list_files as list_files
    from runtime_support._language.files import read_line as read_line
    from runtime_support._language.files import read_text as read_text
    from runtime_support._language.files import write_text as write_text
    from runtime_support._media import File, Image, file, image
    from runtime_support._observability.tracing import add_observer
    from runtime_support._overlap import later, overlap, together
    from runtime_support._overlap import print as print
    from runtime_support._schema import check
    from runtime_support._schema.rules import require as require
    from runtime_support._streaming.results import AsyncResult
    from runtime_support._tables import mean as mean
    from runtime_support._tables import read as read

    # Where modules of earlier versions, and programs written by hand, find what has moved.
    from runtime_support._values.ambiguity import ambiguous as ambiguous
    from runtime_support._values.ambiguity import option as option
    from runtime_support._values.awaiting import in_loop
    from runtime_support._values.json_text import parse as parse
    from runtime_support._values.json_text import to_json as to_json
    from runtime_support._values.kinds import kind as kind
    from runtime_support._values.kinds import show as show
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
        RunWaiting,
        SaftError,
        ToolLimitError,
        ToolsUnsupported,
        TruncatedReply,
        ZeroError,
    )
    from runtime_support.events import (
        ReplyEnded,
        ReplyEvent,
        TextPiece,
        ToolEnded,
        ToolStarted,
        add_listener,
    )
    from runtime_support.programs._prompting import Plan as Plan
    from runtime_support.programs._prompting import program
    from runtime_support.programs._prompting import run as run
    from runtime_support.testing import Scripted as Scripted
else:
    _HOMES = {
        "ops": "ops=.",
        "_journal.approval": "Decision PendingCall approve",
        "_core.messages": "Provider Reply Request",
        "_core.tasks.effects": "in_thread",
        "_values.awaiting": "in_loop",
        "_media": "File Image file image",
        "_observability.tracing": "add_observer",
        "_overlap": "later overlap together",
        "_core.prompt": "prompt",
        "_core.results": "Result ToolCall Usage",
        "_streaming.results": "AsyncResult",
        "_schema": "check",
        "_core.settings": "Settings configure defaults current_settings",
        "programs._prompting": "program",
        "events": "ReplyEnded ReplyEvent TextPiece ToolEnded ToolStarted add_listener",
        "errors": (
            "AuthenticationFailed BudgetSpent CheckError ConfigError ContractError Failed "
            "FileError JournalError MissingError ProgramError PromptError ProviderError "
            "ProviderTimeout RateLimited Refused ReplayMiss RunStopped RunWaiting SaftError "
            "ToolLimitError ToolsUnsupported TruncatedReply ZeroError"
        ),
    }
    # Where modules of earlier versions, and programs written by hand, find what has moved.
    _MOVED = {
        "_values.ambiguity": "ambiguous option",
        "_core.messages": "ToolRequest",
        "_values.json_text": "parse to_json",
        "_language.failures": "Failure failure",
        "_language.files": "append_text list_files read_line read_text write_text",
        "_overlap": "print",
        "_schema.rules": "require",
        "_tables": "mean read",
        "_values.kinds": "kind show",
        "programs._prompting": "Plan run",
        "_journal.hook": "journaled",
        "_core.scopes": "idempotency_key journal_scope",
        "testing": "Scripted",
    }
    __getattr__, _ = load_lazily(__name__, "runtime_support", _HOMES, _MOVED)

__all__ = [
    "AsyncResult",
    "AuthenticationFailed",
    "BudgetSpent",
    "CheckError",
    "ConfigError",
    "ContractError",
    "Decision",
    "Failed",
    "File",
    "FileError",
    "Image",
    "JournalError",
    "MissingError",
    "PendingCall",
    "ProgramError",
    "PromptError",
    "Provider",
    "ProviderError",
    "ProviderTimeout",
    "RateLimited",
    "Refused",
    "ReplayMiss",
    "Reply",
    "ReplyEnded",
    "ReplyEvent",
    "Request",
    "Result",
    "RunStopped",
    "RunWaiting",
    "SaftError",
    "Settings",
    "TextPiece",
    "ToolCall",
    "ToolEnded",
    "ToolLimitError",
    "ToolStarted",
    "ToolsUnsupported",
    "TruncatedReply",
    "Usage",
    "ZeroError",
    "add_listener",
    "add_observer",
    "approve",
    "check",
    "configure",
    "current_settings",
    "defaults",
    "file",
    "image",
    "in_loop",
    "in_thread",
    "later",
    "ops",
    "overlap",
    "program",
    "prompt",
    "together",
]


def __dir__() -> list[str]:
    return __all__


def _main_has_its_map() -> bool:
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    return path is not None and os.path.isfile(f"{path}.map")


# In a program that imports compiled modules Python's own report of uncaught errors stays as it is.
if _main_has_its_map():
    from runtime_support._core.positions.uncaught import install

    install()
