"""The runtime of compiled Saft scripts: prompts to models as calls of functions.

    from runtime_support import prompt
    prompt("how many vowels are in {word}?", word="strawberry", returns=int).value

Saft's builtins are in `ops`, plans in `programs`, journals in `runs`, helpers for tests in
`testing`. A name's module is imported at its first use, so that a script without prompts starts as
fast as plain Python.
"""

from __future__ import annotations

import os
import sys

from runtime_support._values.lazy import load_lazily

_HOMES = {
    "ops": "ops=.",
    "_journal.approval": "Decision PendingCall approve",
    "_core.messages": "Provider Reply Request ToolRequest",
    "_core.tasks.loops": "in_thread",
    "_values.awaiting": "in_loop",
    "_media": "File Image file image",
    "_observability.tracing": "add_observer",
    "_overlap": "later overlap together",
    "_core.prompt": "prompt",
    "_core.results": "Result ToolCall Usage",
    "_streaming.results": "AsyncResult",
    "_schema": "check",
    "_core.settings.configuration": "configure current_settings defaults",
    "_core.settings": "Settings",
    "programs._prompting": "program",
    "events": "ReplyEnded ReplyEvent TextPiece ToolEnded ToolStarted add_listener",
    "errors": (
        "AuthenticationFailed BudgetSpent CheckError ConfigError ContractError Failed "
        "FileError JournalError JournalInUse MissingError ProgramError PromptError ProviderError "
        "ProviderTimeout RateLimited Refused ReplayMiss RunStopped RunWaiting SaftError "
        "ToolLimitError ToolsUnsupported TruncatedReply ZeroError"
    ),
}
__getattr__, __dir__, __all__ = load_lazily(__name__, _HOMES)


def _main_has_its_map() -> bool:
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    return path is not None and os.path.isfile(f"{path}.map")


# A program that only imports compiled modules keeps Python's own report of uncaught errors.
if _main_has_its_map():
    from runtime_support._core.positions.uncaught import install

    install()
