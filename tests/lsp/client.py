"""An editor for tests: pygls' client, on the server over its standard input and output."""

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

from tests.compiler.support import ROOT

# Only a defect takes this long, in seconds.
PATIENCE = 120


class Editor:
    """A client with a folder of scripts; each method waits for its answer."""

    def __init__(self, runner: asyncio.Runner, client: LanguageClient, folder: Path) -> None:
        self.runner = runner
        self.client = client
        self.folder = folder
        self.capabilities = lsp.ServerCapabilities()
        self.texts: dict[str, str] = {}
        self.versions: dict[str, int] = {}
        self.told: dict[str, lsp.PublishDiagnosticsParams] = {}
        self.messages: list[str] = []
        self.refreshed: list[str] = []
        self.news = asyncio.Event()

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri()

    def write(self, name: str, text: str) -> None:
        """Writes a file that is not opened."""
        (self.folder / name).write_text(text, encoding="utf-8")

    def open(self, name: str, text: str, also: Any = None) -> list[lsp.Diagnostic]:
        """Opens a script with a text, or goes on to it, and waits for the diagnostics; `also` is
        done at once, before they can come."""
        if name in self.texts:
            return self.change(name, text)
        self.write(name, text)
        self.texts[name], self.versions[name] = text, 1
        item = lsp.TextDocumentItem(self.uri(name), "saft", 1, text)

        def send() -> None:
            self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(item))
            if also is not None:
                also()

        return self._wait(name, send)

    def change(self, name: str, text: str) -> list[lsp.Diagnostic]:
        """Replaces the text of an open script, and waits for the diagnostics."""
        self.texts[name] = text
        self.versions[name] += 1
        document = lsp.VersionedTextDocumentIdentifier(self.versions[name], self.uri(name))
        whole = lsp.TextDocumentContentChangeWholeDocument(text)
        params = lsp.DidChangeTextDocumentParams(document, [whole])
        return self._wait(name, lambda: self.client.text_document_did_change(params))

    def _wait(self, name: str, send: Any) -> list[lsp.Diagnostic]:
        uri, version = self.uri(name), self.versions[name]

        async def wait() -> list[lsp.Diagnostic]:
            send()
            while self.told.get(uri) is None or self.told[uri].version != version:
                self.news.clear()
                await self.news.wait()
            return list(self.told[uri].diagnostics)

        return self.runner.run(asyncio.wait_for(wait(), PATIENCE))

    def ask(self, request: str, params: Any) -> Any:
        """The answer to a request, by the name of the client's method."""
        sent = getattr(self.client, f"{request}_async")

        async def wait() -> Any:
            return await sent(params)

        return self.runner.run(asyncio.wait_for(wait(), PATIENCE))

    def send(self, method: str, params: Any) -> Any:
        """The answer to a request that the protocol does not have."""

        async def wait() -> Any:
            return await self.client.protocol.send_request_async(method, params)

        return self.runner.run(asyncio.wait_for(wait(), PATIENCE))

    def at(self, name: str, marked: str) -> tuple[lsp.TextDocumentIdentifier, lsp.Position]:
        """The script, and the place that `|` marks in a part of its text, the last such one."""
        before, after = marked.split("|")
        offset = self.texts[name].rindex(before + after) + len(before)
        line = self.texts[name].count("\n", 0, offset)
        column = offset - (self.texts[name].rfind("\n", 0, offset) + 1)
        return lsp.TextDocumentIdentifier(self.uri(name)), lsp.Position(line, column)

    def text_at(self, place: lsp.Range, name: str) -> str:
        """What stands in a range of a script."""
        lines = self.texts[name].split("\n")
        if place.start.line == place.end.line:
            return lines[place.start.line][place.start.character : place.end.character]
        inner = lines[place.start.line + 1 : place.end.line]
        first = lines[place.start.line][place.start.character :]
        return "\n".join([first, *inner, lines[place.end.line][: place.end.character]])

    def edited(self, name: str, edits: list[lsp.TextEdit]) -> str:
        """The text of a script with edits done."""
        text = self.texts[name]
        lines = text.split("\n")
        starts = [sum(len(one) + 1 for one in lines[:number]) for number in range(len(lines) + 1)]
        for edit in sorted(
            edits, key=lambda one: (one.range.start.line, one.range.start.character), reverse=True
        ):
            start = starts[edit.range.start.line] + edit.range.start.character
            end = starts[edit.range.end.line] + edit.range.end.character
            text = text[:start] + edit.new_text + text[end:]
        return text


@contextmanager
def editor(folder: Path, options: Any = None) -> Iterator[Editor]:
    """An editor that has started the server for a folder."""
    with asyncio.Runner() as runner:
        client = LanguageClient("tests", "1")
        made = Editor(runner, client, folder)

        @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def _told(params: lsp.PublishDiagnosticsParams) -> None:
            made.told[params.uri] = params
            made.news.set()

        @client.feature(lsp.WINDOW_SHOW_MESSAGE)
        def _shown(params: lsp.ShowMessageParams) -> None:
            made.messages.append(params.message)

        @client.feature(lsp.WORKSPACE_TEXT_DOCUMENT_CONTENT_REFRESH)
        def _refreshed(params: lsp.TextDocumentContentRefreshParams) -> None:
            made.refreshed.append(params.uri)
            made.news.set()

        async def start() -> lsp.InitializeResult:
            environment = {**os.environ, "PYTHONPATH": str(ROOT)}
            await client.start_io(sys.executable, "-m", "saftc", "lsp", env=environment)
            result = await client.initialize_async(
                lsp.InitializeParams(
                    capabilities=lsp.ClientCapabilities(),
                    root_uri=folder.as_uri(),
                    initialization_options=options,
                )
            )
            client.initialized(lsp.InitializedParams())
            return result

        made.capabilities = runner.run(asyncio.wait_for(start(), PATIENCE)).capabilities
        yield made

        async def stop() -> None:
            await client.shutdown_async(None)
            client.exit(None)
            await client.stop()

        runner.run(asyncio.wait_for(stop(), PATIENCE))
