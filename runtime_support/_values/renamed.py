"""The former names of settings, commands and functions.

Using an old name in a script, a settings file, the environment, a command or an import is an error
that tells the new name. Only this module has former names. It is removed with the first release.
"""

from __future__ import annotations

SETTINGS = {
    "retries": "max_retries",
    "repairs": "max_repairs",
    "patience": "max_wait",
    "wire": "api",
    "cut": "on_truncated",
    "structured": "enforce_schema",
    "effort": "reasoning_effort",
    "extra": "extra_body",
    "max_requests": "budget_requests",
    "max_total_tokens": "budget_tokens",
    "max_cost": "budget_cost",
}
# Renamed values, by setting.
VALUES = {"on_truncated": {"allow": "accept"}, "provider": {"none": "unset"}}
VARIABLES = {
    **{f"SAFT_{old.upper()}": f"SAFT_{new.upper()}" for old, new in SETTINGS.items()},
    "SAFT_IN_DOUBT": "SAFT_ON_INTERRUPTED_CALL",
    "SAFT_TRACE": "SAFT_VERBOSE",
}
FUNCTIONS = {
    "snapshot": "current_settings",
    "scoped": "journal_scope",
    "call_key": "idempotency_key",
}
COMMANDS = {"runs": "journals"}
_OF_RUNS = {
    "--max-requests": "--budget-requests",
    "--max-total-tokens": "--budget-tokens",
    "--max-cost": "--budget-cost",
    "--trace": "--verbose",
}
# Renamed options, by command.
FLAGS = {
    "run": _OF_RUNS,
    "map": {
        **_OF_RUNS,
        "--in-flight": "--rows-at-once",
        "--keep": "--columns",
        "--column": "--rename",
    },
    "check": {"--max-requests": "--bound"},
    "build": {"--settings": "--embed-settings", "--no-settings": "--no-embed-settings"},
    "prompts": {"--wire": "--raw"},
    "trace": {"--html": "--timeline"},
    "approve": {
        "--no": "--deny",
        "--done": "--result",
        "--again": "--retry",
        "--no-run": "--decide-only",
    },
}


def renamed(old: str, new: str) -> str:
    """Returns a hint for a former name: it is now called `new`."""
    return f"`{old}` is called `{new}`"
