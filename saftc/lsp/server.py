"""Handles the requests of the language server protocol, by calls of the package's other modules.

A request is handled only after the messages that arrived at the same time were read: if one of them
cancels the request, no work is done. Diagnostics are sent once after a series of changes.
"""

import asyncio
import gc
import logging
import os
import sys
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast
from urllib.parse import unquote

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from saftc._version import __version__
from saftc.formatter.formatter import format_source
from saftc.lsp import completion, definitions, outline, views
from saftc.lsp import diagnostics as findings
from saftc.lsp import hover as meanings
from saftc.lsp.protocol import Connection, Lines
from saftc.lsp.session import Script, Session, TooLarge
from saftc.project.files import FileProblem
from saftc.source import Source, Span
from saftc.syntax import nodes as n
from saftc.syntax.tokens import KEYWORDS

# Diagnostics wait for this many seconds without a change. If the last check took longer, they wait
# as long as it took, up to `_LONGEST_PAUSE`.
_PAUSE = 0.005
_LONGEST_PAUSE = 0.3
# Memory for earlier texts is freed after `_REST` seconds without a change, or `_MOST_MESSAGES`.
_REST = 2.0
_MOST_MESSAGES = 250

_SYMBOLS = {
    "function": lsp.SymbolKind.Function,
    "type": lsp.SymbolKind.Struct,
    "field": lsp.SymbolKind.Field,
    "variable": lsp.SymbolKind.Variable,
}
_ITEMS = {
    "variable": lsp.CompletionItemKind.Variable,
    "function": lsp.CompletionItemKind.Function,
    "type": lsp.CompletionItemKind.Struct,
    "field": lsp.CompletionItemKind.Field,
    "option": lsp.CompletionItemKind.Property,
    "module": lsp.CompletionItemKind.Module,
    "keyword": lsp.CompletionItemKind.Keyword,
    "parameter": lsp.CompletionItemKind.Field,
}
_LEGEND = lsp.SemanticTokensLegend(list(outline.KINDS), list(outline.MODIFIERS))

_Params = TypeVar("_Params")
_Answer = TypeVar("_Answer")
_Handler = Callable[["SaftServer", _Params], Coroutine[Any, Any, _Answer]]


class _Placed(Protocol):
    """A request about a position in a text."""

    text_document: lsp.TextDocumentIdentifier
    position: lsp.Position


class SaftServer(LanguageServer):
    """The server for one editor, with the open scripts and the views that the editor shows."""

    def __init__(self) -> None:
        # Editors send whole texts: for changes of parts, pygls also ends lines at other characters,
        # such as form feeds.
        super().__init__(  # pyright: ignore[reportUnknownMemberType]
            "saftc",
            __version__,
            text_document_sync_kind=lsp.TextDocumentSyncKind.Full,
            protocol_cls=Connection,
        )
        cast("Connection", self.protocol).handled = self._count
        self.session = Session()
        self.shows_parameter_types = False
        self.shows_request_bounds = True
        # The URIs of the open scripts as the editor writes them, by path.
        self.uris: dict[str, str] = {}
        # The views by URI, each with the source of the script that was rendered.
        self._views: dict[str, tuple[Source, views.View]] = {}
        # The texts of views that the editor has fetched, by URI, until it is notified of a change.
        self._fetched: dict[str, str] = {}
        # By path, the version of each open script whose diagnostics were sent last.
        self._told: dict[str, Script] = {}
        # The URIs of scripts for which the user was told that they cannot be formatted.
        self.unformatted: set[str] = set()
        self._due: asyncio.Task[None] | None = None
        # How long the last check of the open scripts took, in seconds.
        self._took = 0.0
        self._messages = 0

    def path_of(self, uri: str) -> str:
        """The path of the script at a URI, or the URI itself if the script has no file yet."""
        path = to_fs_path(uri) or uri
        if "\0" in path:
            raise JsonRpcInvalidParams("this is not the address of a file")
        return path

    def uri_of(self, path: str) -> str:
        """The URI of a script, as the editor writes it if the script is open."""
        return self.uris.get(path) or from_fs_path(path) or path

    def lines(self, source: Source) -> Lines:
        """The converter for positions in a text, in the encoding agreed on with the client."""
        return Lines(source, self.workspace.position_codec)

    def script(self, uri: str) -> Script:
        """The current script at a URI, checked.

        Raises:
            FileProblem: The script cannot be read, or is too long.
        """
        return self.session.script(self.path_of(uri))

    def at(self, params: _Placed) -> tuple[Script, int]:
        """The script that a request is about, and the offset of the request's position."""
        script = self.script(params.text_document.uri)
        return script, self.lines(script.source).offset(params.position)

    def location(self, path: str, source: Source, span: Span) -> lsp.Location:
        """The location of a span in a script or Python module."""
        return lsp.Location(self.uri_of(path), self.lines(source).range(span))

    def change(self, uri: str, text: str) -> None:
        """Sets the text of an open script and schedules the diagnostics."""
        self.uris[self.path_of(uri)] = uri
        self.session.change(self.path_of(uri), text)
        self.publish_soon()

    def forget(self, uri: str) -> None:
        """Forgets a script that was closed."""
        self.uris.pop(self.path_of(uri), None)
        self._told.pop(self.path_of(uri), None)

    def publish_soon(self) -> None:
        """Schedules the diagnostics of the open scripts."""
        if self._due is not None:
            self._due.cancel()
        self._due = asyncio.get_running_loop().create_task(self._publish())

    async def _publish(self) -> None:
        await asyncio.sleep(min(_LONGEST_PAUSE, max(_PAUSE, self._took)))
        begun = time.monotonic()
        for path in self.session.open:
            self.publish(path)
            await asyncio.sleep(0)
        await self._refresh_views()
        self._took = time.monotonic() - begun
        await asyncio.sleep(_REST)
        self._rest()

    def _count(self) -> None:
        """Counts an incoming message. Frees memory after many messages without a pause."""
        self._messages += 1
        if self._messages >= _MOST_MESSAGES:
            self._rest()

    def _rest(self) -> None:
        self._messages = 0
        self.session.rest()

    def publish(self, path: str) -> None:
        """Sends the diagnostics of a script, unless they were sent for this version already."""
        uri = self.uri_of(path)
        document = self.workspace.text_documents.get(unquote(uri))
        version = None if document is None else document.version
        try:
            script = self.script(uri)
        except FileProblem as problem:
            self._told.pop(path, None)
            found = [findings.not_checked(problem)]
        else:
            if self._told.get(path) is script:
                return
            self._told[path] = script
            lines = self.lines(script.source)
            found = findings.reported(script.checked, lines, uri, self._lines_of)
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found, version))

    def _lines_of(self, path: str) -> tuple[str, Lines]:
        return self.uri_of(path), self.lines(self.session.script(path).source)

    def view(self, uri: str) -> views.View:
        """The view at a URI. It shows the last version of the script that had no errors."""
        meant = views.script_of(uri)
        if meant is None:
            raise JsonRpcInvalidParams(message=f"there is no view at {uri}")
        path = self.path_of(meant[1])
        try:
            script = self.session.last_valid(path)
        except TooLarge as problem:
            return views.message_view(str(problem))
        made_of, made = self._views.get(uri, (None, None))
        if script is not None and script.source is not made_of:
            made = views.view(meant[0], script) or made
            if made is not None:
                self._views[uri] = script.source, made
        return made or views.message_view("This is shown when the script has no errors.")

    async def _refresh_views(self) -> None:
        for uri, fetched in list(self._fetched.items()):
            try:
                text = self.view(uri).text
            except FileProblem:
                continue  # the script cannot be read any more
            if text != fetched:
                # The view may be hidden: do not compare it again until the editor fetches it.
                del self._fetched[uri]
                self.workspace_text_document_content_refresh(
                    lsp.TextDocumentContentRefreshParams(uri)
                )
            await asyncio.sleep(0)

    def warn_unformatted(self, uri: str) -> None:
        """Warns the user that a script was not formatted because it has mistakes.

        It warns only once, until the script can be formatted again.
        """
        if uri not in self.unformatted:
            self.unformatted.add(uri)
            name = Path(self.path_of(uri)).name
            text = f"{name} is not formatted: it has mistakes, and saftc cannot read all of it"
            self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, text))

    def fetch(self, uri: str) -> str:
        """The text of a view.

        From now on, the server notifies the editor of changes of the text.
        """
        self._fetched[uri] = self.view(uri).text
        return self._fetched[uri]


server = SaftServer()


def _answers(
    method: str, options: Any = None
) -> Callable[[_Handler[Any, Any]], _Handler[Any, Any]]:
    """Returns a decorator that registers a function as the handler of the request `method`.

    The server reads further messages before it calls the function, so that a request can still be
    cancelled.
    """

    def register(handler: _Handler[Any, Any]) -> _Handler[Any, Any]:
        async def answer(ls: SaftServer, params: Any) -> Any:
            await asyncio.sleep(0)
            try:
                return await handler(ls, params)
            except TooLarge:
                return None  # a diagnostic of the script reports the problem
            except FileProblem as problem:
                raise JsonRpcInvalidParams(str(problem)) from None

        server.feature(method, options)(answer)
        return handler

    return register


# Scripts


@server.feature(lsp.INITIALIZED)
def _started(ls: SaftServer, _params: lsp.InitializedParams) -> None:
    # The objects that exist now live as long as the process: do not traverse them again.
    gc.collect()
    gc.freeze()
    able = ls.client_capabilities.workspace or lsp.WorkspaceClientCapabilities()
    files, content = able.did_change_watched_files, able.text_document_content
    wanted: list[lsp.Registration] = []
    if files is not None and files.dynamic_registration:
        # The files on which the meaning of a script depends.
        patterns = [
            lsp.FileSystemWatcher(f"**/{name}")
            for name in ("*.saft", "*.py", "*.pyi", "mcp.lock.json", "pyproject.toml")
        ]
        watched = lsp.DidChangeWatchedFilesRegistrationOptions(patterns)
        method = lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES
        wanted.append(lsp.Registration("saft-files", method, watched))
    if content is not None and content.dynamic_registration:
        schemes = lsp.TextDocumentContentRegistrationOptions(list(views.SCHEMES))
        method = lsp.WORKSPACE_TEXT_DOCUMENT_CONTENT
        wanted.append(lsp.Registration("saft-views", method, schemes))
    if wanted:
        ls.client_register_capability(lsp.RegistrationParams(wanted))


@server.feature(lsp.INITIALIZE)
def _settings(ls: SaftServer, params: lsp.InitializeParams) -> None:
    _take_settings(ls, params.initialization_options)


@server.feature(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)
def _changed_settings(ls: SaftServer, params: lsp.DidChangeConfigurationParams) -> None:
    _take_settings(ls, _part(params.settings, "saft"))


def _take_settings(ls: SaftServer, settings: object) -> None:
    ls.shows_parameter_types = _part(settings, "parameterTypes") is True
    ls.shows_request_bounds = _part(settings, "requestBounds") is not False


def _part(data: object, name: str) -> object:
    """The field `name` of data from a client. In pygls, the data are a dictionary or an object."""
    if isinstance(data, dict):
        return cast("dict[str, object]", data).get(name)
    return getattr(data, name, None)


@server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
def _opened(ls: SaftServer, params: lsp.DidOpenTextDocumentParams) -> None:
    ls.change(params.text_document.uri, params.text_document.text)


@server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
def _changed(ls: SaftServer, params: lsp.DidChangeTextDocumentParams) -> None:
    uri = params.text_document.uri
    ls.change(uri, ls.workspace.get_text_document(uri).source)


@server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
def _closed(ls: SaftServer, params: lsp.DidCloseTextDocumentParams) -> None:
    uri = params.text_document.uri
    ls.session.close(ls.path_of(uri))
    ls.forget(uri)
    ls.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, []))
    ls.publish_soon()


@server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
def _files_changed(ls: SaftServer, _params: lsp.DidChangeWatchedFilesParams) -> None:
    ls.session.restart()
    ls.publish_soon()


@_answers(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix]))
async def _fixes(ls: SaftServer, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    uri = params.text_document.uri
    script = ls.script(uri)
    lines = ls.lines(script.source)
    return findings.fixes(
        script.checked, lines, uri, params.range, list(params.context.diagnostics)
    )


@_answers(lsp.TEXT_DOCUMENT_FORMATTING)
async def _formatted(
    ls: SaftServer, params: lsp.DocumentFormattingParams
) -> list[lsp.TextEdit] | None:
    uri = params.text_document.uri
    source = ls.script(uri).source
    text = format_source(source).text
    if text is None:
        ls.warn_unformatted(uri)
        return None
    ls.unformatted.discard(uri)
    if text == source.text:
        return None
    # Leave out the lines at the start and the end that do not change: a cursor in them stays.
    before, after = source.text.split("\n"), text.split("\n")
    first = 0
    while first < min(len(before), len(after)) and before[first] == after[first]:
        first += 1
    last = 0
    while last < min(len(before), len(after)) - first and before[-1 - last] == after[-1 - last]:
        last += 1
    start, end = source.line_start(first + 1), source.line_start(len(before) - last + 1)
    put = "".join(f"{line}\n" for line in after[first : len(after) - last])
    if not last:
        put = put.removesuffix("\n")
    return [lsp.TextEdit(ls.lines(source).range(Span(start, end)), put)]


# Outline


@_answers(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
async def _symbols(ls: SaftServer, params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
    script = ls.script(params.text_document.uri)
    lines = ls.lines(script.source)

    def shown(entry: outline.Entry) -> lsp.DocumentSymbol:
        return lsp.DocumentSymbol(
            name=entry.text,
            kind=_SYMBOLS[entry.kind],
            range=lines.range(entry.span),
            selection_range=lines.range(entry.name),
            detail=entry.detail or None,
            children=[shown(one) for one in entry.inside] or None,
        )

    return [shown(one) for one in outline.entries(script)]


@_answers(lsp.TEXT_DOCUMENT_FOLDING_RANGE)
async def _folds(ls: SaftServer, params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
    folds = outline.folds(ls.script(params.text_document.uri))
    return [lsp.FoldingRange(first - 1, last - 1, kind=kind) for first, last, kind in folds]


@_answers(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, _LEGEND)
async def _colours(ls: SaftServer, params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
    script = ls.script(params.text_document.uri)
    lines = ls.lines(script.source)
    data: list[int] = []
    line = character = 0
    for one in outline.colours(script):
        if "\n" in script.source.at(one.span):
            continue
        place = lines.range(one.span)
        start, length = place.start, place.end.character - place.start.character
        column = start.character if start.line != line else start.character - character
        modifiers = sum(1 << outline.MODIFIERS.index(said) for said in one.modifiers)
        kind = outline.KINDS.index(one.kind)
        data += [start.line - line, column, length, kind, modifiers]
        line, character = start.line, start.character
    return lsp.SemanticTokens(data)


@_answers(lsp.TEXT_DOCUMENT_INLAY_HINT)
async def _hints(ls: SaftServer, params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
    script = ls.script(params.text_document.uri)
    lines = ls.lines(script.source)
    found: list[lsp.InlayHint] = []
    if ls.shows_parameter_types:
        found += [
            lsp.InlayHint(lines.position(offset), text, kind=lsp.InlayHintKind.Type)
            for offset, text in outline.parameter_types(script)
        ]
    if ls.shows_request_bounds:
        found += [
            lsp.InlayHint(lines.position(offset), text, tooltip=told, padding_left=True)
            for offset, text, told in outline.request_bounds(script)
        ]
    return [one for one in found if params.range.start <= one.position <= params.range.end]


# Names


@_answers(lsp.TEXT_DOCUMENT_HOVER)
async def _hover(ls: SaftServer, params: lsp.HoverParams) -> lsp.Hover | None:
    script, offset = ls.at(params)
    found = meanings.hover(ls.session, script, offset)
    if found is None:
        return None
    content = lsp.MarkupContent(lsp.MarkupKind.Markdown, found[0])
    return lsp.Hover(content, ls.lines(script.source).range(found[1]))


@_answers(lsp.TEXT_DOCUMENT_DEFINITION)
async def _definition(ls: SaftServer, params: lsp.DefinitionParams) -> lsp.Location | None:
    script, offset = ls.at(params)
    found = definitions.occurrence_at(script, offset)
    if found is None:
        return None
    return ls.location(
        found.target.path, definitions.source_of(ls.session, found.target), found.target.span
    )


@_answers(lsp.TEXT_DOCUMENT_REFERENCES)
async def _references(ls: SaftServer, params: lsp.ReferenceParams) -> list[lsp.Location]:
    script, offset = ls.at(params)
    found = definitions.occurrence_at(script, offset)
    if found is None:
        return []
    named = definitions.references(ls.session, script, found.target)
    return [
        ls.location(one.path, one.source, span)
        for one, span in named
        if params.context.include_declaration
        or (one.path, span) != (found.target.path, found.target.span)
    ]


@_answers(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
async def _highlights(
    ls: SaftServer, params: lsp.DocumentHighlightParams
) -> list[lsp.DocumentHighlight]:
    script, offset = ls.at(params)
    found = definitions.occurrence_at(script, offset)
    lines = ls.lines(script.source)
    return [
        lsp.DocumentHighlight(lines.range(one.span))
        for one in definitions.occurrences(script)
        if found is not None and one.target == found.target
    ]


@_answers(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
async def _prepared(ls: SaftServer, params: lsp.PrepareRenameParams) -> lsp.Range | None:
    script, offset = ls.at(params)
    found = definitions.occurrence_at(script, offset)
    if found is None or found.target.kind != "name":
        return None
    return ls.lines(script.source).range(found.span)


@_answers(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
async def _renamed(ls: SaftServer, params: lsp.RenameParams) -> lsp.WorkspaceEdit:
    script, offset = ls.at(params)
    found = definitions.occurrence_at(script, offset)
    if found is None or found.target.kind != "name":
        raise JsonRpcInvalidParams(message="the script does not define this name")
    name = params.new_name
    if not (name.isidentifier() and name.isascii()) or name in KEYWORDS:
        raise JsonRpcInvalidParams(message=f"`{name}` is not a name")
    changes: dict[str, list[lsp.TextEdit]] = {}
    for one, span in definitions.renamed(ls.session, script, found):
        taken = definitions.name_conflict(one, span, name)
        if taken is not None:
            raise JsonRpcInvalidParams(message=f"`{name}` is already used in {one.path}")
        edit = lsp.TextEdit(ls.lines(one.source).range(span), name)
        changes.setdefault(ls.uri_of(one.path), []).append(edit)
    return lsp.WorkspaceEdit(changes=changes)


# Writing


@_answers(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[".", "{", "("]))
async def _completions(ls: SaftServer, params: lsp.CompletionParams) -> lsp.CompletionList:
    script, offset = ls.at(params)
    items = [
        lsp.CompletionItem(
            label=one.name,
            kind=_ITEMS[one.kind],
            detail=one.detail or None,
            documentation=one.doc or None,
            insert_text=one.written,
            sort_text=f"{position:04}",
        )
        for position, one in enumerate(completion.proposals(script, offset))
    ]
    return lsp.CompletionList(is_incomplete=False, items=items)


@_answers(lsp.TEXT_DOCUMENT_SIGNATURE_HELP, lsp.SignatureHelpOptions(["(", ","], [":"]))
async def _call(ls: SaftServer, params: lsp.SignatureHelpParams) -> lsp.SignatureHelp | None:
    script, offset = ls.at(params)
    found = completion.call_at(script, offset)
    if found is None:
        return None
    shown = lsp.SignatureInformation(
        label=found.head,
        documentation=found.doc or None,
        parameters=[lsp.ParameterInformation(one) for one in found.parameters],
    )
    return lsp.SignatureHelp([shown], active_signature=0, active_parameter=found.active)


# Views


@_answers(lsp.TEXT_DOCUMENT_CODE_LENS)
async def _lenses(ls: SaftServer, params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
    uri = params.text_document.uri
    script = ls.script(uri)
    lines = ls.lines(script.source)

    def lens(title: str, kind: views.Kind, span: Span) -> lsp.CodeLens:
        place = lines.range(Span(span.start, span.start))
        arguments = [views.address(kind, uri), uri, place.start.line]
        return lsp.CodeLens(place, lsp.Command(title, "saft.show", arguments=arguments))

    prompts = (node.span for node in script.nodes if isinstance(node, n.Prompt))
    return [
        # Some editors, as Neovim, show lenses at the end of a line: the arrow tells them from code.
        lens("▸ Show Python", "python", Span(0, 0)),
        *(lens("▸ Preview request", "request", span) for span in prompts),
    ]


@_answers(lsp.WORKSPACE_TEXT_DOCUMENT_CONTENT, lsp.TextDocumentContentOptions(list(views.SCHEMES)))
async def _content(
    ls: SaftServer, params: lsp.TextDocumentContentParams
) -> lsp.TextDocumentContentResult:
    return lsp.TextDocumentContentResult(ls.fetch(params.uri))


@_answers("saft/lines")
async def _lines(ls: SaftServer, params: Any) -> dict[str, Any] | None:
    """The lines of a view that belong to a line of its script. Lines are counted from 0.

    With `back`, the result is the lines of the script that belong to a line of the view.
    """
    uri, line = getattr(params, "view", None), getattr(params, "line", None)
    if not isinstance(uri, str) or not isinstance(line, int):
        raise JsonRpcInvalidParams(message="saft/lines takes `view`, an address, and `line`")
    meant = views.script_of(uri)
    if meant is None:
        return None
    script, shown = ls.script(meant[1]), ls.view(uri)
    find = shown.from_line if getattr(params, "back", False) else shown.of
    found = find(script.source, line + 1)
    return None if found is None else {"first": found[0] - 1, "last": found[1] - 1}


def serve() -> None:
    """Serves an editor over standard input and output until it closes the connection."""
    # Standard output carries the protocol only. The log of pygls and all other output go to
    # standard error, which editors show as the server's log.
    logging.basicConfig(level=logging.WARNING)
    output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout = sys.stderr
    gc.disable()
    server.start_io(stdout=output)
