"""What a server does not take, as far as it was found out.

    NO_TOOLS.search("gemma:2b does not support tools")      a refusal of tools, whatever they are
    lacks.add("tools", "gemma:2b")
    ("tools", "gemma:2b") in lacks                          for the next ten minutes

A refusal is told from other mistakes by what servers are known to say: OpenAI, Azure, OpenRouter,
Groq, Mistral, DeepSeek, vLLM, llama.cpp, Ollama, LM Studio. The words are searched in lower case.
"""

from __future__ import annotations

import re
import time

_QUOTE = r"[\"'`]?"
_UNKNOWN = (
    r"(unknown|unrecognized|unsupported|unexpected) (request )?"
    rf"(field|argument|parameter|property|key)s?( supplied)?:? {_QUOTE}"
)
_NOT_PERMITTED = r"'[\])], 'msg': 'extra inputs are not permitted"
_UNSUPPORTED = r"(is|are) not (supported|enabled|available)"
_SUPPORTS_NO = r"(does not|doesn't) support"
# What follows is a part of it, and not the whole.
_ALL = r"\b(?![\[.])"

NO_TOOLS = re.compile(
    rf"{_SUPPORTS_NO} (tools?|functions?)\b( (use|usage|calls?|calling))?(?! ?[\"'`\[.:])"
    rf"|\b(tools?|tool use|(tool|function)[ -]call(s|ing)){_QUOTE} {_UNSUPPORTED}"
    r"|no endpoints found that support tool use"
    r"|tool choice requires --enable-auto-tool-choice"
    r"|tools param requires --jinja"
    rf"|{_UNKNOWN}tools{_ALL}"
    rf"|'tools{_NOT_PERMITTED}"
)
NO_SCHEMA = re.compile(
    rf"{_UNKNOWN}response_format{_ALL}"
    rf"|response_format{_QUOTE}( of type {_QUOTE}json_schema{_QUOTE}| type)?"
    r" is (not supported|unavailable)"
    rf"|{_SUPPORTS_NO} (response[ _]format|json[ _]schemas?|structured outputs?)"
    rf"|(structured outputs?|json_schema){_QUOTE} {_UNSUPPORTED}"
    r"|response_format[\"'`.]*\s*(value|type)?[\"'`]?:? ?(type )?must be"
    r"|json_schema is enabled only for api versions"
    rf"|'response_format{_NOT_PERMITTED}"
)
NOT_THIS_SCHEMA = re.compile(
    r"invalid (json )?schema\b|json schema (conversion failed|contains|is too complex)"
    r"|parse grammar|grammar (error|is too large)|schema is too complex|too many states"
)


class Lacks:
    """What a server was found not to take; tried again after a while, as servers change."""

    SECONDS = 600.0
    MOST = 256

    def __init__(self) -> None:
        self._until: dict[tuple[str, ...], float] = {}

    def add(self, *what: str) -> None:
        """Notes a part of requests, named by words."""
        # A new dict each time: other threads look into the one before.
        latest = list(self._until.items())[1 - self.MOST :]
        self._until = {**dict(latest), what: self.now() + self.SECONDS}

    def now(self) -> float:
        """The time, in seconds."""
        return time.monotonic()

    def __bool__(self) -> bool:
        return bool(self._until)

    def __contains__(self, what: tuple[str, ...]) -> bool:
        return self._until.get(what, 0.0) > self.now()
