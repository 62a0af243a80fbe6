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
    from runtime_support._asking import Question, first_request
    from runtime_support._exchange import Request
    from runtime_support._language.failures import words_of
    from runtime_support._language.files import size_text
    from runtime_support._names import did_you_mean, listed
    from runtime_support._observe.spans import workflow
    from runtime_support._observe.timeline import Timeline, write_form, write_timeline
    from runtime_support._positions import name_of_place
    from runtime_support._redaction import escaped
    from runtime_support._schema import model as schema_model
    from runtime_support._schema.reading import Parameter
    from runtime_support._seams import loaded_part, want
    from runtime_support._settings import check_provider_name, settings_for
    from runtime_support._templates import Unknown, tool_name
    from runtime_support._tools import function_tool
    from runtime_support._uncaught import is_broken_rule
    from runtime_support._values import counted, literal
    from runtime_support.programs import _tree as program_tree
    from runtime_support.programs import _types as program_types
    from runtime_support.programs._coercion import MOST_CONVERSIONS, readings
    from runtime_support.programs._prompting import ProgramQuestion
    from runtime_support.programs._registry import Definition, Function, classes_of
    from runtime_support.providers._bodies import enclosed
    from runtime_support.providers._showing import Sent, sent_first
    from runtime_support.runs._journal import time_text
    from runtime_support.runs._keeper import close_journals, journal_here
    from runtime_support.runs._lines import is_journal
    from runtime_support.runs._places import begin_run
    from runtime_support.runs._reading import damaged_lines, summary, timeline, told
    from runtime_support.runs._recordings import advise
else:
    _HOMES = {
        "_asking": "Question first_request",
        "_exchange": "Request",
        "_language.failures": "words_of",
        "_language.files": "size_text",
        "_names": "did_you_mean listed",
        "_observe.spans": "workflow",
        "_observe.timeline": "Timeline write_form write_timeline",
        "_order": "order=.",
        "_positions": "name_of_place",
        "_redaction": "escaped",
        "_schema.model": "schema_model=.",
        "_schema.reading": "Parameter",
        "_seams": "loaded_part want",
        "_settings": "check_provider_name settings_for",
        "_templates": "Unknown tool_name",
        "_tools": "function_tool",
        "_uncaught": "is_broken_rule",
        "_values": "counted literal",
        "programs._coercion": "MOST_CONVERSIONS readings",
        "programs._prompting": "ProgramQuestion",
        "programs._registry": "Definition Function classes_of",
        "programs._tree": "program_tree=.",
        "programs._types": "program_types=.",
        "providers._bodies": "enclosed",
        "providers._showing": "Sent sent_first",
        "runs._journal": "time_text",
        "runs._keeper": "close_journals journal_here",
        "runs._lines": "is_journal",
        "runs._places": "begin_run",
        "runs._reading": "damaged_lines summary timeline told",
        "runs._recordings": "advise",
    }
    __getattr__, __dir__ = load_lazily(__name__, "runtime_support", _HOMES)

__all__ = [
    "MOST_CONVERSIONS",
    "Definition",
    "Function",
    "Parameter",
    "ProgramQuestion",
    "Question",
    "Request",
    "Sent",
    "Timeline",
    "Unknown",
    "advise",
    "begin_run",
    "check_provider_name",
    "classes_of",
    "close_journals",
    "counted",
    "damaged_lines",
    "did_you_mean",
    "enclosed",
    "escaped",
    "first_request",
    "function_tool",
    "is_broken_rule",
    "is_journal",
    "journal_here",
    "listed",
    "literal",
    "loaded_part",
    "name_of_place",
    "order",
    "program_tree",
    "program_types",
    "readings",
    "schema_model",
    "sent_first",
    "settings_for",
    "size_text",
    "summary",
    "time_text",
    "timeline",
    "told",
    "tool_name",
    "want",
    "words_of",
    "workflow",
    "write_form",
    "write_timeline",
]
