"""Tables about prompts: the options of `with`, and the members of a result."""

from difflib import SequenceMatcher

from saftc.types.types import (
    ANY,
    BOOL,
    FAILURE,
    FLOAT,
    INT,
    NIL,
    NUMBER,
    RESULT,
    STRING,
    TOOL_CALL,
    USAGE,
    FieldType,
    ListType,
    MapType,
    ObjectType,
    Type,
    literal_type,
    union,
)

# The names of providers and the values of the option for reasoning effort, as in the runtime.
PROVIDERS = ("openai", "openrouter", "gemini", "anthropic", "local", "mock", "unset")
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
# The APIs of providers, each with the options that requests have no field for; the runtime has the
# same table.
WIRES: dict[str, tuple[str, ...]] = {
    "chat": (),
    "responses": ("seed", "stop"),
    "messages": ("seed", "temperature", "top_p"),
}
# The options that `with` accepts.
OPTIONS: dict[str, Type] = {
    "model": STRING,
    "fallback": ListType(STRING),
    "provider": union(map(literal_type, PROVIDERS)),
    "base_url": STRING,
    "api_key_env": STRING,
    "api": union(map(literal_type, WIRES)),
    "temperature": NUMBER,
    "top_p": NUMBER,
    "max_tokens": INT,
    "reasoning_effort": union(map(literal_type, EFFORTS)),
    "seed": INT,
    "stop": union((STRING, ListType(STRING))),
    "system": STRING,
    "timeout": NUMBER,
    "silence": NUMBER,
    "max_retries": INT,
    "max_wait": NUMBER,
    "max_reply_bytes": INT,
    "max_repairs": INT,
    "max_tool_rounds": INT,
    "max_tool_calls": INT,
    "enforce_schema": union(map(literal_type, ("auto", "on", "off"))),
    "trust_system": BOOL,
    "check": ANY,
    "on_truncated": union(map(literal_type, ("error", "accept"))),
    "extra_body": ANY,
}

# The members of a result, with their Python attributes.
MEMBERS = {
    "value": "value",
    "text": "text",
    "toolCalls": "tool_calls",
    "usage": "usage",
    "model": "model",
    "finish": "finish",
    "messages": "messages",
}

# The members that plain values never have, so that reading one always asks for the history.
HISTORY_ONLY = ("toolCalls", "usage")

# The messages of a conversation, and the types that `after` accepts.
MESSAGE = MapType(ANY)
MESSAGES = ListType(MESSAGE)
CONVERSATION = union((RESULT, ListType(ANY)))

PLANNED_CALL = ObjectType(
    (FieldType("tool", STRING), FieldType("args", ANY), FieldType("path", STRING)),
    is_declared=False,
)


def misspelt_member(name: str) -> str | None:
    """The member of a result of which `name` is a likely misspelling, or None.

    The comparison is stricter than `did_you_mean`, as any name may be a field of the result's
    value.
    """
    if SequenceMatcher(None, name.lower().replace("_", ""), "toolcalls").ratio() > 0.8:
        return None if name == "toolCalls" else "toolCalls"
    return next(
        (known for known in MEMBERS if name != known and sorted(name) == sorted(known)), None
    )


# The kinds of failures; the runtime has the same list.
FAILURE_KINDS = (
    *("contract", "truncated", "refused", "tool_limit", "timeout", "rate_limited"),
    *("authentication", "provider", "program", "budget", "check", "file", "config", "failed"),
    "python",
)
FAILURE_KIND = union(map(literal_type, FAILURE_KINDS))

# The fields of the runtime's own records. The type of a result's `value` depends on the prompt.
RECORDS: dict[str, dict[str, Type]] = {
    "ToolCall": {
        "tool": STRING,
        "args": ANY,
        "result": union((STRING, NIL)),
        "error": union((STRING, NIL)),
        "duration": FLOAT,
    },
    "Usage": {
        "input_tokens": INT,
        "output_tokens": INT,
        "requests": INT,
        "cached_tokens": INT,
        "cache_write_tokens": INT,
        "reasoning_tokens": INT,
    },
    "Result": {
        "value": ANY,
        "text": STRING,
        "toolCalls": ListType(TOOL_CALL),
        "usage": USAGE,
        "model": STRING,
        "finish": STRING,
        "messages": MESSAGES,
    },
    "Failure": {
        "message": STRING,
        "kind": FAILURE_KIND,
        "text": union((STRING, NIL)),
        "attempts": INT,
    },
    "Plan": {"calls": ListType(PLANNED_CALL)},
}
# The runtime's records that scripts can use as types.
NAMED_RECORDS: dict[str, Type] = {
    "Result": RESULT,
    "ToolCall": TOOL_CALL,
    "Usage": USAGE,
    "Failure": FAILURE,
}
MEMBER_TYPES: dict[str, Type] = {
    "text": STRING,
    "toolCalls": ListType(TOOL_CALL),
    "usage": USAGE,
    "model": STRING,
    "finish": STRING,
    "messages": MESSAGES,
}
