// An extension for tests: it does in VS Code what a user does, and writes down what there is to see.

const fs = require("fs");
const vscode = require("vscode");

const PATIENCE = 120_000;
const command = (name, ...given) => vscode.commands.executeCommand(name, ...given);

async function until(what, found) {
  for (const end = Date.now() + PATIENCE; Date.now() < end; ) {
    const value = await found();
    if (value) return value;
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new Error(`waited in vain for ${what}`);
}

// The text of a view, as soon as it has some words.
async function view(scheme, words) {
  const shown = () => vscode.workspace.textDocuments.find((one) => one.uri.scheme === scheme && one.getText().includes(words));
  return (await until(`${words} in ${scheme}`, shown)).getText();
}

const words = (hovers) => hovers.flatMap((one) => one.contents).map((one) => one.value ?? one).join("\n");

async function look(uri, seen) {
  const document = await vscode.workspace.openTextDocument(uri);
  const editor = await vscode.window.showTextDocument(document);
  const mistakes = () => vscode.languages.getDiagnostics(uri);
  seen.language = document.languageId;
  await until("diagnostics", () => mistakes().length);
  seen.diagnostics = mistakes().map((one) => one.message);
  const [fix] = await command("vscode.executeCodeActionProvider", uri, mistakes()[0].range);
  seen.fix = fix.title;
  await vscode.workspace.applyEdit(fix.edit);
  await until("no diagnostics", () => !mistakes().length);
  seen.fixed = document.getText();
  const place = new vscode.Position(0, 2);
  const hover = async () => words(await command("vscode.executeHoverProvider", uri, place));
  seen.hover = await hover();
  const offered = await command("vscode.executeCompletionItemProvider", uri, new vscode.Position(1, 8));
  seen.completions = offered.items.map((one) => one.label.label ?? one.label);
  seen.lenses = (await command("vscode.executeCodeLensProvider", uri)).map((one) => one.command.title);
  await command("saft.showPython");
  seen.python = await view("saft-python", "who is the eldest");
  await vscode.window.showTextDocument(document, editor.viewColumn);
  await command("saft.showRequest");
  seen.request = await view("saft-request", "who is the eldest");
  // Both follow the script.
  const line = document.lineAt(2).text, at = line.indexOf("eldest");
  const changed = new vscode.WorkspaceEdit();
  changed.replace(uri, new vscode.Range(2, at, 2, at + "eldest".length), "youngest");
  await vscode.workspace.applyEdit(changed);
  await view("saft-python", "who is the youngest");
  await view("saft-request", "who is the youngest");
  const edits = await command("vscode.executeFormatDocumentProvider", uri, { tabSize: 4, insertSpaces: true });
  const formatted = new vscode.WorkspaceEdit();
  formatted.set(uri, edits);
  await vscode.workspace.applyEdit(formatted);
  seen.formatted = document.getText();
  await command("saft.restartServer");
  seen.restarted = await until("a server again", hover);
  const ended = new Promise((done) => vscode.tasks.onDidEndTaskProcess(({ exitCode }) => done(exitCode)));
  await vscode.window.showTextDocument(document, editor.viewColumn);
  await command("saft.runMock");
  seen.exitCode = await ended;
  seen.typed = await typed("$ Tell about {per");
  await vscode.window.showTextDocument(document, editor.viewColumn);
  await command("saft.openTimeline");
  const tabs = () => vscode.window.tabGroups.all.flatMap((one) => one.tabs);
  const panel = (one) => one.input instanceof vscode.TabInputWebview && one.input.viewType.endsWith("saft.timeline");
  seen.panel = (await until("the timeline", () => tabs().find(panel))).label;
}

// What stands in a new script when somebody types a text.
async function typed(text) {
  const document = await vscode.workspace.openTextDocument({ language: "saft", content: "" });
  await vscode.window.showTextDocument(document);
  for (const character of text) await command("type", { text: character });
  return document.getText();
}

function activate() {
  const seen = {};
  look(vscode.Uri.file(process.env.SAFT_SCRIPT), seen)
    .catch((error) => (seen.error = String(error.stack ?? error)))
    .then(async () => {
      seen.commands = (await vscode.commands.getCommands(true)).filter((name) => name.startsWith("saft."));
      fs.writeFileSync(`${process.env.SAFT_SEEN}.part`, JSON.stringify(seen));
      fs.renameSync(`${process.env.SAFT_SEEN}.part`, process.env.SAFT_SEEN);
    });
}

module.exports = { activate };
