// Starts `saftc lsp`, runs scripts, shows their timelines, shows the views that its lenses name, and marks the cursor's line in both.

const fs = require("fs/promises");
const os = require("os");
const path = require("path");
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");
const { findSaftc } = require("./saftc");

let client;

async function activate(context) {
  const mark = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor("editor.wordHighlightBackground"),
  });
  const commands = {
    "saft.show": show,
    "saft.showPython": () => showView("saft-python", ".py"),
    "saft.showRequest": () => showView("saft-request", ".txt"),
    "saft.run": () => run([]),
    "saft.runMock": () => run(["--provider", "mock"]),
    "saft.openTimeline": runWithTimeline,
    "saft.restartServer": restart,
  };
  context.subscriptions.push(
    mark,
    ...Object.entries(commands).map(([name, act]) => vscode.commands.registerCommand(name, act)),
    vscode.window.onDidChangeTextEditorSelection((event) => follow(event.textEditor, mark)),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("saft.server")) {
        restart();
      }
    }),
  );
  await start();
}

function deactivate() {
  return client?.stop();
}

async function restart() {
  await client?.stop();
  client = undefined;
  await start();
}

async function start() {
  const settings = vscode.workspace.getConfiguration("saft");
  const saftc = await whereSaftcIs();
  if (!saftc) {
    await tellThatItIsMissing();
    return;
  }
  const [, ...args] = settings.get("server.command") ?? [saftc, "lsp"];
  client = new LanguageClient(
    "saft",
    "Saft",
    { command: saftc, args },
    {
      documentSelector: [{ language: "saft", scheme: "file" }],
      initializationOptions: {
        parameterTypes: settings.get("parameterTypes"),
        requestBounds: settings.get("requestBounds"),
      },
      synchronize: { configurationSection: "saft" },
    },
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    await tellThatItIsMissing(`${saftc} does not start: ${error.message}`);
  }
}

async function whereSaftcIs() {
  return findSaftc({
    configured: vscode.workspace.getConfiguration("saft").get("server.command"),
    folders: (vscode.workspace.workspaceFolders ?? []).map((folder) => folder.uri.fsPath),
    interpreter: await interpreter(),
    paths: (process.env.PATH ?? "").split(path.delimiter),
  });
}

// The interpreter that is chosen in the Python extension, where that is installed.
async function interpreter() {
  const python = vscode.extensions.getExtension("ms-python.python");
  if (!python) {
    return undefined;
  }
  const api = python.isActive ? python.exports : await python.activate();
  return api?.environments?.getActiveEnvironmentPath?.()?.path;
}

async function tellThatItIsMissing(problem = "saftc was not found in .venv, beside Python, or on the path") {
  const choose = "Choose saftc...";
  const chosen = await vscode.window.showErrorMessage(
    `Saft: ${problem}. Install it with its extra \`editor\`, or name it.`,
    choose,
  );
  if (chosen === choose) {
    const files = await vscode.window.showOpenDialog({ title: "Choose the command saftc" });
    if (files?.length) {
      const target = vscode.ConfigurationTarget.Workspace;
      const command = [files[0].fsPath, "lsp"];
      await vscode.workspace.getConfiguration("saft").update("server.command", command, target);
    }
  }
}

// Running: in a terminal, so that `input` can be answered and Ctrl-C stops.

async function run(options) {
  const document = vscode.window.activeTextEditor?.document;
  const saftc = await whereSaftcIs();
  if (document?.languageId !== "saft") {
    vscode.window.showErrorMessage("Saft: open a script first.");
  } else if (!saftc) {
    await tellThatItIsMissing();
  } else if (await document.save()) {
    await runTask(saftc, ["run", document.uri.fsPath, ...options], path.dirname(document.uri.fsPath));
    return true;
  }
  return false;
}

// Runs the command to its end.
async function runTask(saftc, args, cwd) {
  const task = new vscode.Task(
    { type: "saft" },
    vscode.TaskScope.Workspace,
    path.basename(args[1]),
    "saft",
    new vscode.ProcessExecution(saftc, args, { cwd }),
  );
  const execution = await vscode.tasks.executeTask(task);
  await new Promise((resolve) => {
    const ended = vscode.tasks.onDidEndTask((event) => {
      if (event.execution === execution) {
        ended.dispose();
        resolve();
      }
    });
  });
}

// The page is shown in a panel: a browser may be on another machine than the file.
async function runWithTimeline() {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), "saft-"));
  try {
    const page = path.join(folder, "timeline.html");
    if (await run(["--timeline", page])) {
      showPage(await fs.readFile(page, "utf8"));
    }
  } catch (error) {
    vscode.window.showErrorMessage(`Saft: the run has left no timeline (${error.message}).`);
  } finally {
    await fs.rm(folder, { recursive: true, force: true });
  }
}

function showPage(html) {
  const panel = vscode.window.createWebviewPanel("saft.timeline", "Timeline", vscode.ViewColumn.Beside, {
    enableScripts: true,
    enableFindWidget: true,
    retainContextWhenHidden: true,
    localResourceRoots: [],
  });
  panel.webview.html = html;
}

// Views

// A view of the script in the active editor, at the line of its cursor.
async function showView(scheme, suffix) {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.languageId === "saft" && client) {
    const uri = editor.document.uri.with({ scheme, path: editor.document.uri.path + suffix });
    await show(uri.toString(), editor.document.uri.toString(), editor.selection.active.line);
  }
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
  for (const other of client ? vscode.window.visibleTextEditors : []) {
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
