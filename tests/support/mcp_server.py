"""An MCP server over standard input and output that does what a test asks of it, by hand.

    python -I -S mcp_server.py [changed] [tools=FILE] [marker]

It speaks the revision of 2025 and imports little, so that it starts at once. `changed` has its list
of tools be another one, and `tools` has it be that of a file; each of these gives the `_result`
that stands beside it, or the `_text` alone. Into `marker` it writes a line for each call that it
begins with.
"""

import json
import os
import sys
import time

CHANGED = "changed" in sys.argv[1:]
LISTED = next((one[6:] for one in sys.argv[1:] if one.startswith("tools=")), "")
MARKER = next((one for one in sys.argv[1:] if one != "changed" and "=" not in one), "")

TEXT = {"type": "string"}


def _tool(name, output=None, required=(), **properties):
    schema = {"type": "object", "properties": properties, "required": list(required)}
    described = {"name": name, "description": f"Does {name}.", "inputSchema": schema}
    return {**described, "outputSchema": output} if output else described


HIT = {
    "type": "object",
    "properties": {"title": TEXT, "score": {"type": "number"}},
    "required": ["title"],
}
WHERE = {
    "type": "object",
    "properties": {"city": TEXT, "land": TEXT, "code": {"type": ["integer", "null"], "default": 1}},
    "required": ["city"],
}
HITS = {
    "type": "object",
    "properties": {"result": {"type": "array", "items": HIT}},
    "required": ["result"],
}
TOOLS = [
    _tool(
        "search",
        HITS,
        ["query"],
        query=TEXT,
        limit={"type": "integer", "default": 10},
        **({"kind": TEXT} if CHANGED else {}),
    ),
    _tool("page", None, ["url"], url=TEXT, part=TEXT),
    _tool("parts"),
    _tool("fails"),
    _tool("dies"),
    _tool("hangs"),
    _tool("big", None, ["size"], size={"type": "integer"}),
    _tool("noise"),
    _tool("half"),
    _tool("broken"),
    _tool("asks"),
    _tool("secret"),
    _tool("wrong", HITS),
    _tool("words", {**HITS, "properties": {"result": TEXT}}, said=TEXT),
    _tool("hit", HIT, said=TEXT),
    {**_tool("same", kind=TEXT if CHANGED else {}), "description": "same"},
    _tool("nested", None, ["where"], where=WHERE, anything=True),
]
RESULTS = {}
TEXTS = {}
if LISTED:
    with open(LISTED) as listed:
        TOOLS = json.load(listed)
    TEXTS = {tool["name"]: tool.pop("_text") for tool in TOOLS if "_text" in tool}
    RESULTS = {tool["name"]: tool.pop("_result", {"ok": True}) for tool in TOOLS}


def _text(text, **more):
    return {"content": [{"type": "text", "text": text}], **more}


def _call(name, arguments):
    if MARKER:
        with open(MARKER, "a") as file:
            print(name, json.dumps(arguments, sort_keys=True), file=file)
    if name in TEXTS:
        return _text(TEXTS[name])
    if name in RESULTS:
        return _text("as data", structuredContent=RESULTS[name])
    match name:
        case "search":
            found = [{"title": arguments["query"], "score": 1, "rank": 3}]
            return _text("as data", structuredContent={"result": found})
        case "page" | "nested":
            return _text(json.dumps(arguments, sort_keys=True))
        case "parts":
            picture = {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}
            return {"content": [{"type": "text", "text": "one"}, picture]}
        case "fails":
            return _text(f"no such page; {os.environ.get('TOKEN')}", isError=True)
        case "dies":
            print("out of paper", file=sys.stderr, flush=True)
            os._exit(3)
        case "hangs":
            time.sleep(600)
        case "big":
            return _text("x" * arguments["size"])
        case "noise":
            print("starting up ...", flush=True)
            return _text("heard")
        case "half":
            return _text("half of a character: \ud800")
        case "broken":
            return {"content": [{"type": "image", "data": "@@@@", "mimeType": "image/png"}]}
        case "words" | "hit":
            return _text(arguments["said"])
        case "asks":
            for number, method in enumerate(("sampling/createMessage", "roots/list")):
                asked = {"messages": [], "maxTokens": 5} if "sampling" in method else {}
                _write({"id": f"s{number}", "method": method, "params": asked})
            answers = [json.loads(sys.stdin.readline()) for _ in range(2)]
            return _text(" ".join("refused" if "error" in one else "allowed" for one in answers))
        case "secret":
            return _text(f"the token is {os.environ.get('TOKEN')}")
        case "wrong":
            return _text("as data", structuredContent={"result": [{"title": 7}]})
    return _text("no such tool", isError=True)


def _answer(method, parameters):
    match method:
        case "initialize":
            about = {"name": "by hand", "version": "1.0"}
            version = parameters["protocolVersion"]
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call":
            return _call(parameters["name"], parameters.get("arguments") or {})
        case "ping":
            return {}
    return None


def _write(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked or "method" not in asked:
        continue
    result = _answer(asked["method"], asked.get("params") or {})
    if result is None:
        _write({"id": asked["id"], "error": {"code": -32601, "message": "no such method"}})
    else:
        _write({"id": asked["id"], "result": result})
