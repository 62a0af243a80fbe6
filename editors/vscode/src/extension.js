// Starts `saftc lsp`, shows the views that its lenses name, and marks the cursor's line in both.

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function activate(context) {
  const settings = vscode.workspace.getConfiguration("saft");
  const [command, ...args] = settings.get("server.command");
  client = new LanguageClient(
    "saft",
    "Saft",
    { command, args },
    {
      documentSelector: [{ language: "saft", scheme: "file" }],
      initializationOptions: {
        parameterTypes: settings.get("parameterTypes"),
        requestBounds: settings.get("requestBounds"),
      },
      synchronize: { configurationSection: "saft" },
    },
  );
  const mark = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("editor.wordHighlightBackground"),
  });
  context.subscriptions.push(
    mark,
    vscode.commands.registerCommand("saft.show", show),
    vscode.window.onDidChangeTextEditorSelection((event) => follow(event.textEditor, mark)),
  );
  await client.start();
}

function deactivate() {
  return client?.stop();
}

async function show(view, _script, line) {
  const document = await vscode.workspace.openTextDocument(vscode.Uri.parse(view));
  if (document.uri.scheme === "saft-python") {
    await vscode.languages.setTextDocumentLanguage(document, "python");
  }
  const editor = await vscode.window.showTextDocument(document, {
    viewColumn: vscode.ViewColumn.Beside,
    preserveFocus: true,
    preview: false,
  });
  const lines = await client.sendRequest("saft/lines", { view, line });
  if (lines) {
    editor.revealRange(range(lines), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }
}

// Marks the lines that belong to the one with the cursor: of a script's views, or of their script.
async function follow(editor, mark) {
  const line = editor.selection.active.line;
  for (const other of vscode.window.visibleTextEditors) {
    const isView = isOf(other.document.uri, editor.document.uri);
    const isScript = isOf(editor.document.uri, other.document.uri);
    if (!isView && !isScript) {
      continue;
    }
    const view = (isView ? other : editor).document.uri.toString();
    const lines = await client.sendRequest("saft/lines", { view, line, back: isScript });
    other.setDecorations(mark, lines ? [range(lines)] : []);
    if (lines) {
      other.revealRange(range(lines), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
    }
  }
}

function isOf(view, script) {
  return view.scheme.startsWith("saft-") && view.path.replace(/\.(py|txt)$/, "") === script.path;
}

function range(lines) {
  return new vscode.Range(lines.first, 0, lines.last, 0);
}

module.exports = { activate, deactivate };
