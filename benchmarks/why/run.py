"""The task of docs/why.md, done by saftc and by others against one fake server.

    python benchmarks/why/run.py [PYTHON]

PYTHON has instructor, pydantic-ai-slim[openai], dspy and baml-py; without it, saftc journals alone.
Prints of each how many requests it sent, how many of them at the same time, whether the reason went
back to the model, and whether it printed what it should. The first title for the first mail is too
long; the second one is not.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RULE = "the title has at most 40 characters"
LONG = "A customer was charged twice for an invoice of March"
TICKETS = {
    "invoice": {"title": "Charged twice in March", "topic": "billing"},
    "crashes": {"title": "Crash in the settings", "topic": "bug"},
    "office": {"title": "Office in Oslo?", "topic": "other"},
}
PRINTED = "".join(f"{one['topic']} | {one['title']}\n" for one in TICKETS.values())


class Model(ThreadingHTTPServer):
    """Answers chat completions in the form that each request asks for, 0.3 s late."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.clear()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def clear(self) -> None:
        self.requests = self.under_way = self.most = 0
        self.was_told = False
        self.asked: set[str] = set()


class Handler(BaseHTTPRequestHandler):
    server: Model

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        request = json.loads(body)
        with self.server.lock:
            self.server.requests += 1
            self.server.under_way += 1
            self.server.most = max(self.server.most, self.server.under_way)
        time.sleep(0.3)
        text = json.dumps(request["messages"])
        mail = next(name for name in TICKETS if name in text)
        ticket = dict(TICKETS[mail])
        with self.server.lock:
            self.server.under_way -= 1
            self.server.was_told |= RULE in text
            if mail == "invoice" and mail not in self.server.asked:
                ticket["title"] = LONG
            self.server.asked.add(mail)
        data = json.dumps(completion(request, text, ticket)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def completion(request: dict[str, Any], text: str, ticket: dict[str, str]) -> dict[str, Any]:
    """A whole completion: a call where a tool is offered, DSPy's fields, or JSON."""
    message: dict[str, Any] = {"role": "assistant", "content": json.dumps(ticket)}
    if tools := request.get("tools"):
        call = {"name": tools[0]["function"]["name"], "arguments": json.dumps(ticket)}
        calls = [{"id": "call_1", "type": "function", "function": call}]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
    elif "[[ ## title ## ]]" in text:
        fields = "".join(f"[[ ## {name} ## ]]\n{value}\n\n" for name, value in ticket.items())
        message["content"] = fields + "[[ ## completed ## ]]"
    finish = "tool_calls" if "tool_calls" in message else "stop"
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": request["model"],
        "choices": [{"index": 0, "finish_reason": finish, "message": message}],
        "usage": {"prompt_tokens": 40, "completion_tokens": 20, "total_tokens": 60},
    }


def run(model: Model, *command: str, folder: Path) -> str:
    """One program against the server; what came of it, in a line of a table."""
    model.clear()
    address = f"http://127.0.0.1:{model.server_port}/v1"
    names = ("OPENAI_BASE_URL", "OPENAI_API_BASE", "SAFT_BASE_URL")
    keys = {"OPENAI_API_KEY": "none", "SAFT_MODEL": "gpt-4o-mini", "BAML_LOG": "off"}
    environment = {**os.environ, **dict.fromkeys(names, address), **keys}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    )
    if PRINTED not in done.stdout:  # DSPy prints its progress as well
        return f"printed something else:\n{done.stdout}{done.stderr[-2000:]}"
    told = "told why" if model.was_told else "asked again, without a reason"
    return f"{model.requests} requests, {model.most} at the same time; {told}"


def lines_of(*paths: Path) -> int:
    """How many lines with text the files have."""
    texts = [path.read_text(encoding="utf-8") for path in paths]
    return sum(bool(line.strip()) for text in texts for line in text.splitlines())


def run_peer(model: Model, name: str, python: Path) -> str:
    """One of the others, in a folder of its own."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        shutil.copy(HERE / "mails.py", folder)
        program = Path(shutil.copy(HERE / f"with_{name}.py", folder))
        written = [program]
        if name == "baml":
            shutil.copytree(HERE / "baml_src", folder / "baml_src")
            written.append(folder / "baml_src" / "main.baml")
            generate = [str(python.parent / "baml-cli"), "generate"]
            subprocess.run(generate, cwd=folder, check=True, capture_output=True)
        found = run(model, str(python), program.name, folder=folder)
        return f"{name:12} {lines_of(*written):3} lines  {found}"


def main() -> None:
    """Prints the table."""
    model = Model()
    found = run(model, sys.executable, "-m", "saftc", "run", "triage.saft", folder=HERE)
    print(f"{'saftc':12} {lines_of(HERE / 'triage.saft'):3} lines  {found}")
    for name in ("instructor", "pydantic_ai", "dspy", "baml") if len(sys.argv) > 1 else ():
        print(run_peer(model, name, Path(sys.argv[1])))


if __name__ == "__main__":
    main()
