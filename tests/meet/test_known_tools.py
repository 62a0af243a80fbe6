"""Schemas of tools in the ways that well-known servers write them: what they are in a script, and
whether what is sent of them is what they allow, as the package jsonschema judges it.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import jsonschema

from tests.support.homes import Home

TEXT = {"type": "string"}
NUMBER = {"type": "number"}
DRAFT_7 = "http://json-schema.org/draft-07/schema#"


class Known(NamedTuple):
    """A tool, how it is declared in a script, and the arguments of a call of it there."""

    name: str
    schema: dict[str, Any]
    head: str
    call: str


def _object(required: str = "", **fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": required.split()}


def _zod(required: str = "", **fields: Any) -> dict[str, Any]:
    return {**_object(required, **fields), "additionalProperties": False, "$schema": DRAFT_7}


def _maybe(schema: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An optional one as pydantic writes it."""
    return {"anyOf": [schema, {"type": "null"}], "default": None, **more}


EDIT = _zod("oldText newText", oldText=TEXT, newText=TEXT, note=TEXT)
ENTITY = _zod(
    "name entityType observations",
    name={**TEXT, "description": "The name"},
    entityType=TEXT,
    observations={"type": "array", "items": TEXT},
)
KNOWN = [
    Known(
        "read_text_file",
        _zod("path", path=TEXT, head={**NUMBER, "description": "first lines"}, tail=NUMBER),
        "(path: string, head: float? = nil, tail: float? = nil)",
        'path: "a", head: 3.0',
    ),
    Known(
        "edit_file",
        _zod(
            "path edits",
            path=TEXT,
            edits={"type": "array", "items": EDIT},
            dryRun={"type": "boolean", "default": False},
        ),
        "(path: string, edits: [{oldText: string, newText: string, note: string?}], "
        "dryRun: bool = false)",
        'path: "a", edits: [{oldText: "x", newText: "y"}]',
    ),
    Known(
        "create_entities",
        _object("entities", entities={"type": "array", "items": ENTITY}),
        "(entities: [{name: string, entityType: string, observations: [string]}])",
        'entities: [{name: "Ada", entityType: "person", observations: []}]',
    ),
    Known(
        "fetch",
        {
            **_object(
                "url",
                url={"type": "string", "format": "uri", "minLength": 1, "title": "Url"},
                max_length={
                    "type": "integer",
                    "default": 5000,
                    "exclusiveMinimum": 0,
                    "exclusiveMaximum": 1000000,
                },
                raw={"type": "boolean", "default": False},
            ),
            "title": "Fetch",
        },
        "(url: string, max_length: int = 5000, raw: bool = false)",
        'url: "https://docs.example"',
    ),
    Known(
        "convert_time",
        _object("source_timezone time", source_timezone=TEXT, time=TEXT),
        "(source_timezone: string, time: string)",
        'source_timezone: "Asia/Tokyo", time: "14:30"',
    ),
    Known(
        "git_log",
        _object("repo_path", repo_path=TEXT, max_count={"type": "integer", "default": 10}),
        "(repo_path: string, max_count: int = 10)",
        'repo_path: "."',
    ),
    Known(
        "git_status_since",
        _object("repo_path", repo_path=TEXT, since=_maybe(TEXT, title="Since")),
        "(repo_path: string, since: string? = nil)",
        'repo_path: "."',
    ),
    Known("list_tables", {"type": "object"}, "()", ""),
    Known("read_query", _object("query", query=TEXT), "(query: string)", 'query: "select 1"'),
    Known(
        "brave_web_search",
        _object("query", query=TEXT, count={**NUMBER, "default": 10}),
        "(query: string, count: float = 10)",
        'query: "tea"',
    ),
    Known(
        "sequentialthinking",
        _object(
            "thought nextThoughtNeeded",
            thought=TEXT,
            nextThoughtNeeded={"type": "boolean"},
            revisesThought={"type": "integer", "minimum": 1},
        ),
        "(thought: string, nextThoughtNeeded: bool, revisesThought: int? = nil)",
        'thought: "so", nextThoughtNeeded: false',
    ),
    Known(
        "create_issue",
        _zod(
            "owner repo title",
            owner=TEXT,
            repo=TEXT,
            title=TEXT,
            labels={"type": "array", "items": TEXT},
            state={"type": "string", "enum": ["open", "closed"]},
        ),
        "(owner: string, repo: string, title: string, labels: [string]? = nil, "
        'state: "open" | "closed" | nil = nil)',
        'owner: "a", repo: "b", title: "c", state: "open"',
    ),
    Known(
        "slack_post_message",
        _object("channel_id text", channel_id=TEXT, text=TEXT),
        "(channel_id: string, text: string)",
        'channel_id: "C1", text: "hello"',
    ),
    Known(
        "maps_distance_matrix",
        _object(
            "origins",
            origins={"type": "array", "items": TEXT},
            mode={"type": "string", "enum": ["driving", "walking"], "default": "driving"},
        ),
        '(origins: [string], mode: "driving" | "walking" = "driving")',
        'origins: ["Bonn"]',
    ),
    Known(
        "browser_fill_form",
        _zod(
            "fields",
            fields={
                "type": "array",
                "items": _zod(
                    "name type value",
                    name=TEXT,
                    type={"type": "string", "enum": ["textbox", "checkbox"]},
                    value=TEXT,
                ),
            },
        ),
        '(fields: [{name: string, type: "textbox" | "checkbox", value: string}])',
        'fields: [{name: "a", type: "textbox", value: "b"}]',
    ),
    Known(
        "API-post-page",
        {
            **_object("parent", parent={"$ref": "#/$defs/parentRequest"}, icon=TEXT),
            "$defs": {
                "parentRequest": {
                    "oneOf": [
                        _object("page_id", page_id=TEXT),
                        _object("database_id", database_id=TEXT),
                    ]
                }
            },
        },
        "(parent: {page_id: string} | {database_id: string}, icon: string? = nil)",
        'parent: {page_id: "p"}',
    ),
    Known(
        "create_refund",
        _zod(
            "payment_intent",
            payment_intent=TEXT,
            amount={"type": "integer"},
            metadata={"type": "object", "additionalProperties": TEXT},
        ),
        "(payment_intent: string, amount: int? = nil, metadata: {[string]: string}? = nil)",
        'payment_intent: "pi_1", metadata: {a: "b"}',
    ),
    Known(
        "search_issues",
        {
            **_object(
                "filter",
                filter={"$ref": "#/$defs/Filter"},
                order=_maybe({"$ref": "#/$defs/Order"}),
            ),
            "$defs": {
                "Filter": {
                    **_object("text", text={**TEXT, "title": "Text"}, team=_maybe(TEXT)),
                    "title": "Filter",
                },
                "Order": {"enum": ["asc", "desc"], "title": "Order", "type": "string"},
            },
        },
        '(filter: {text: string, team: string?}, order: "asc" | "desc" | nil = nil)',
        'filter: {text: "a"}',
    ),
    Known(
        "puppeteer_evaluate",
        _object("script", script=TEXT, launchOptions={"type": "object"}),
        "(script: string, launchOptions: {[string]: any}? = nil)",
        'script: "1", launchOptions: {headless: true}',
    ),
    Known(
        "set_point",
        _object(
            "at",
            at={"type": "array", "prefixItems": [NUMBER, NUMBER], "minItems": 2, "maxItems": 2},
            value={"type": ["string", "number", "null"]},
        ),
        "(at: (float, float), value: string | float | nil = nil)",
        'at: (1.0, 2.0), value: "a"',
    ),
]


def test_tools_as_well_known_servers_describe_them(home: Home) -> None:
    tools = [
        {"name": one.name, "description": "", "inputSchema": one.schema, "_result": {"ok": True}}
        for one in KNOWN
    ]
    home.write("tools.json", json.dumps(tools))
    home.add_mcp_server(f"tools={home.folder / 'tools.json'}", str(home.folder / "calls"))
    locked = home.saftc("mcp", "lock")
    assert (locked.code, locked.err.count("left out")) == (0, 0), locked.err
    names = {one.name: one.name.replace("-", "_") for one in KNOWN}
    heads = [line.removeprefix("  + f ").partition("   //")[0] for line in locked.out.split("\n")]
    assert [f"{names[one.name]}{one.head}" for one in sorted(KNOWN)] == heads[1:-1]

    imports = f'from mcp("docs") import {", ".join(names.values())}\n'
    calls = "".join(f"print({names[one.name]}({one.call}))\n" for one in KNOWN)
    ended = home.run(imports + calls)
    assert (ended.code, ended.out) == (0, "{ok: true}\n" * len(KNOWN)), ended.err
    sent = [line.partition(" ") for line in home.read("calls").split("\n")[:-1]]
    assert [name for name, _, _ in sent] == [one.name for one in KNOWN]
    for (_, _, arguments), one in zip(sent, KNOWN, strict=True):
        jsonschema.validate(json.loads(arguments), one.schema)
