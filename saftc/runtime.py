"""What saftc uses of the runtime beside its public names: all of it, and here alone.

    from saftc.runtime import settings_for        loaded at its first use

Modules of the runtime whose names begin with an underscore are free to change; what saftc has to do
about it is done here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runtime_support._lazy import load_lazily

if TYPE_CHECKING:
    from runtime_support import _order as order
    from runtime_support import _renamed as renaming
    from runtime_support._asking import KEPT_OPTIONS, Question, first_request
    from runtime_support._exchange import TOKEN_PARTS, Request
    from runtime_support._hooks import load_part, loaded_part
    from runtime_support._language.failures import error_words
    from runtime_support._language.files import (
        PRIVATE,
        base_folder,
        check_can_write,
        check_regular,
        open_private,
        replace_file,
        size_text,
    )
    from runtime_support._language.operators import out_of_range
    from runtime_support._media import describe_content
    from runtime_support._names import did_you_mean, listed
    from runtime_support._notes import note
    from runtime_support._observe.spans import workflow
    from runtime_support._observe.tracing import Event, trace_text
    from runtime_support._positions import name_of_place
    from runtime_support._redaction import escaped, redacted
    from runtime_support._results import Result
    from runtime_support._schema import model as schema_model
    from runtime_support._schema.reading import Parameter
    from runtime_support._settings import (
        OF_THE_RUN,
        OPTIONS_ELSEWHERE,
        PROVIDERS,
        VARIABLES,
        checked_option,
        setting_from_text,
        settings_for,
        settings_to_show,
    )
    from runtime_support._spending import spending_here
    from runtime_support._templates import Unknown, tool_name
    from runtime_support._tools import function_tool
    from runtime_support._uncaught import is_broken_rule, is_tool_of_server
    from runtime_support._values import counted, is_approved, is_list, is_object, literal
    from runtime_support.mcp import _config as mcp_config
    from runtime_support.mcp import _lock as mcp_lock
    from runtime_support.mcp import _serving as mcp_serving
    from runtime_support.mcp import _sessions as mcp_sessions
    from runtime_support.programs import _conversions as conversions
    from runtime_support.programs import _tree as program_tree
    from runtime_support.programs import _types as program_types
    from runtime_support.programs._evaluation import DEFAULT_LIMITS as program_limits
    from runtime_support.programs._prompting import ProgramQuestion
    from runtime_support.programs._registry import Definition, Function, classes_of
    from runtime_support.providers import PRESETS, live_provider, who_answers
    from runtime_support.providers._bodies import wrap_schema
    from runtime_support.providers._server import waits
    from runtime_support.providers._showing import Sent, sent_first
    from runtime_support.runs import _budgets as budgets
    from runtime_support.runs._budgets import Spent, cost_of, dollars, price_of
    from runtime_support.runs._journal import (
        Kind,
        entries,
        has_failed,
        is_in_use,
        is_journal,
        note_command,
        script_here,
        time_text,
    )
    from runtime_support.runs._keeper import close_journals, journal_here
    from runtime_support.runs._lines import Entry, usage_of
    from runtime_support.runs._places import Asked, begin_run, enclosing_scopes
    from runtime_support.runs._questions import began_by
    from runtime_support.runs._recordings import advise
else:
    _HOMES = {
        "_asking": "KEPT_OPTIONS Question first_request",
        "_exchange": "TOKEN_PARTS Request",
        "_language.failures": "error_words",
        "_language.files": (
            "PRIVATE base_folder check_can_write check_regular open_private replace_file size_text"
        ),
        "_language.operators": "out_of_range",
        "_media": "describe_content",
        "_names": "did_you_mean listed",
        "_notes": "note",
        "_observe.spans": "workflow",
        "_observe.tracing": "Event trace_text",
        "_order": "order=.",
        "_positions": "name_of_place",
        "_redaction": "escaped redacted",
        "_renamed": "renaming=.",
        "_results": "Result",
        "_schema.model": "schema_model=.",
        "_schema.reading": "Parameter",
        "_hooks": "load_part loaded_part",
        "_settings": (
            "OF_THE_RUN OPTIONS_ELSEWHERE PROVIDERS VARIABLES checked_option setting_from_text "
            "settings_for settings_to_show"
        ),
        "_templates": "Unknown tool_name",
        "_tools": "function_tool",
        "_uncaught": "is_broken_rule is_tool_of_server",
        "_values": "counted is_approved is_list is_object literal",
        "mcp._config": "mcp_config=.",
        "mcp._lock": "mcp_lock=.",
        "mcp._serving": "mcp_serving=.",
        "mcp._sessions": "mcp_sessions=.",
        "programs._conversions": "conversions=.",
        "programs._evaluation": "program_limits=DEFAULT_LIMITS",
        "programs._prompting": "ProgramQuestion",
        "programs._registry": "Definition Function classes_of",
        "programs._tree": "program_tree=.",
        "programs._types": "program_types=.",
        "providers": "PRESETS live_provider who_answers",
        "providers._bodies": "wrap_schema",
        "providers._server": "waits",
        "providers._showing": "Sent sent_first",
        "_spending": "spending_here",
        "runs._budgets": "budgets=. Spent cost_of dollars price_of",
        "runs._journal": (
            "Kind entries has_failed is_in_use is_journal note_command script_here time_text"
        ),
        "runs._keeper": "close_journals journal_here",
        "runs._lines": "Entry usage_of",
        "runs._places": "Asked begin_run enclosing_scopes",
        "runs._questions": "began_by",
        "runs._recordings": "advise",
    }
    __getattr__, __dir__ = load_lazily(__name__, "runtime_support", _HOMES)

__all__ = [
    "KEPT_OPTIONS",
    "OF_THE_RUN",
    "OPTIONS_ELSEWHERE",
    "PRESETS",
    "PRIVATE",
    "PROVIDERS",
    "TOKEN_PARTS",
    "VARIABLES",
    "Asked",
    "Definition",
    "Entry",
    "Event",
    "Function",
    "Kind",
    "Parameter",
    "ProgramQuestion",
    "Question",
    "Request",
    "Result",
    "Sent",
    "Spent",
    "Unknown",
    "advise",
    "base_folder",
    "began_by",
    "begin_run",
    "budgets",
    "check_can_write",
    "check_regular",
    "checked_option",
    "classes_of",
    "close_journals",
    "conversions",
    "cost_of",
    "counted",
    "describe_content",
    "did_you_mean",
    "dollars",
    "enclosing_scopes",
    "entries",
    "error_words",
    "escaped",
    "first_request",
    "function_tool",
    "has_failed",
    "is_approved",
    "is_broken_rule",
    "is_in_use",
    "is_journal",
    "is_list",
    "is_object",
    "is_tool_of_server",
    "journal_here",
    "listed",
    "literal",
    "live_provider",
    "load_part",
    "loaded_part",
    "mcp_config",
    "mcp_lock",
    "mcp_serving",
    "mcp_sessions",
    "name_of_place",
    "note",
    "note_command",
    "open_private",
    "order",
    "out_of_range",
    "price_of",
    "program_limits",
    "program_tree",
    "program_types",
    "redacted",
    "renaming",
    "replace_file",
    "schema_model",
    "script_here",
    "sent_first",
    "setting_from_text",
    "settings_for",
    "settings_to_show",
    "size_text",
    "spending_here",
    "time_text",
    "tool_name",
    "trace_text",
    "usage_of",
    "waits",
    "who_answers",
    "workflow",
    "wrap_schema",
]
