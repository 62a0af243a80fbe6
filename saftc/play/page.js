// The page of `saftc play`: the script on one side, and what becomes of it on the other.
"use strict";

const MOST_SHOWN = 1_000_000;
const GONE = "saftc play has ended: start it again, and reload";
const { token } = document.body.dataset;
const part = (id) => document.getElementById(id);

function socket(path, more = {}) {
  return new WebSocket(`ws://${location.host}/${path}?${new URLSearchParams({ token, ...more })}`);
}

function say(text, isWrong = false, id = "status") {
  part(id).textContent = text;
  part(id).classList.toggle("wrong", isWrong);
}

// Tabs

const tabs = [...document.querySelectorAll('[role="tab"]')];

function select(name, focuses = false) {
  for (const tab of tabs) {
    const isThis = tab.id === `tab-${name}`;
    tab.setAttribute("aria-selected", isThis);
    tab.tabIndex = isThis ? 0 : -1;
    part(tab.getAttribute("aria-controls")).hidden = !isThis;
    if (isThis && focuses) tab.focus();
  }
  selected = name;
  refresh();
}

let selected = "python";
for (const [number, tab] of tabs.entries()) {
  const name = tab.getAttribute("aria-controls");
  tab.addEventListener("click", () => select(name));
  tab.addEventListener("keydown", ({ key }) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
    if (step) select(tabs[(number + step + tabs.length) % tabs.length].getAttribute("aria-controls"), true);
  });
}

// What follows the script: its module and its requests, as the language server has them.

let script = null;
let uri = "";
let errors = 0;
const views = {
  python: saft.viewer(part("python"), "python", "Python"),
  request: saft.viewer(part("request"), "text", "requests"),
};
const endings = { python: ".py", request: ".txt" };
const addressOf = (kind) => `saft-${kind}:${uri.slice("file:".length)}${endings[kind]}`;

async function refresh() {
  const kind = selected;
  part("stale").hidden = !(kind in views) || !errors;
  if (!(kind in views) || script === null) return;
  const found = await script.ask("workspace/textDocumentContent", { uri: addressOf(kind) });
  views[kind].show(found.text);
  follow(script.line);
}

async function follow(line) {
  const kind = selected;
  if (!(kind in views) || script === null) return;
  const lines = await script.ask("saft/lines", { view: addressOf(kind), line });
  views[kind].mark(lines);
}

function told({ diagnostics }) {
  const count = (severity) => diagnostics.filter((one) => one.severity === severity).length;
  errors = count(1);
  const said = [
    [errors, "mistake"],
    [count(2), "warning"],
  ].filter(([number]) => number);
  const words = said.map(([number, word]) => `${number} ${word}${number > 1 ? "s" : ""}`);
  const first = diagnostics.find((one) => one.severity === 1);
  const where = first ? `, first in line ${first.range.start.line + 1}` : "";
  say(words.join(", ") + where, errors > 0, "mistakes");
  refresh();
}

function languageServer() {
  const connection = socket("language");
  const waiting = [];
  connection.addEventListener("open", () => waiting.splice(0).forEach((one) => connection.send(one)));
  connection.addEventListener("close", () => say(GONE, true));
  const handlers = new Map();
  return {
    send: (message) => (connection.readyState === WebSocket.CONNECTING ? waiting.push(message) : connection.send(message)),
    subscribe(handler) {
      const listener = ({ data }) => {
        const { method, id } = JSON.parse(data);
        if (method === "workspace/textDocumentContent/refresh") {
          connection.send(JSON.stringify({ jsonrpc: "2.0", id, result: null }));
          return;
        }
        handler(data);
      };
      handlers.set(handler, listener);
      connection.addEventListener("message", listener);
    },
    unsubscribe: (handler) => connection.removeEventListener("message", handlers.get(handler)),
  };
}

// Runs

let shown = 0;
let prompts = new Map();
let isRunning = false;
let running = null;

function runs() {
  if (running === null) {
    running = socket("run", { version });
    running.addEventListener("message", ({ data }) => happened(JSON.parse(data)));
    running.addEventListener("close", () => {
      running = null;
      saves = [];
      ended();
      say(GONE, true);
    });
  }
  return running;
}

function send(message) {
  const connection = runs();
  const text = JSON.stringify(message);
  if (connection.readyState === WebSocket.OPEN) connection.send(text);
  else connection.addEventListener("open", () => connection.send(text), { once: true });
}

function run() {
  if (isRunning) return;
  isRunning = true;
  part("run").disabled = true;
  part("stop").disabled = false;
  part("output").textContent = "";
  shown = 0;
  prompts = new Map();
  select("output");
  say("running");
  send({ run: script.text });
}

function ended() {
  isRunning = false;
  part("run").disabled = false;
  part("stop").disabled = true;
}

function output(node) {
  const panel = part("output");
  const isAtEnd = panel.scrollHeight - panel.scrollTop - panel.clientHeight < 40;
  panel.append(node);
  if (isAtEnd) panel.scrollTop = panel.scrollHeight;
}

function printed(stream, text) {
  if (shown > MOST_SHOWN) return;
  shown += text.length;
  write(stream, shown > MOST_SHOWN ? text.slice(0, MOST_SHOWN - shown) : text);
  if (shown > MOST_SHOWN) write("stderr", "\n(more output is not shown)\n");
}

function write(stream, text) {
  const last = part("output").lastElementChild;
  if (last?.tagName === "PRE" && last.className === stream) {
    last.append(text);
    output(last);
    return;
  }
  const made = document.createElement("pre");
  made.className = stream;
  made.textContent = text;
  output(made);
}

// A prompt is a line that opens: what was sent, what came back, and the calls of tools.
function asked(news) {
  if (!prompts.has(news.prompt)) {
    const made = document.createElement("details");
    made.append(document.createElement("summary"));
    prompts.set(news.prompt, made);
    output(made);
  }
  const made = prompts.get(news.prompt);
  const [word, text] = wordsOf(news);
  made.firstElementChild.textContent = `Prompt ${news.prompt}${placeOf(news)}: ${word}`;
  made.classList.toggle("failed", news.event === "failure");
  const body = document.createElement("pre");
  body.textContent = text;
  made.append(body);
}

function placeOf({ place }) {
  const line = /:(\d+):\d+$/.exec(place ?? "");
  return line ? `, line ${line[1]}` : "";
}

function wordsOf(news) {
  switch (news.event) {
    case "request": {
      const texts = news.messages.map(({ role, content }) => `${role}: ${typeof content === "string" ? content : JSON.stringify(content)}`);
      return ["asking ...", `→ ${texts.join("\n  ")}`];
    }
    case "reply": {
      const calls = (news.tool_calls ?? []).map((one) => `calls ${one.name} ${typeof one.arguments === "string" ? one.arguments : JSON.stringify(one.arguments)}`);
      const text = [news.text, ...calls].filter(Boolean).join("\n  ");
      return [`answered: ${brief(text)}`, `← ${text}`];
    }
    case "tool":
      return [`called ${news.tool}`, `  ${news.tool} gave ${news.error ?? JSON.stringify(news.result)}`];
    default:
      return [`failed: ${brief(news.message ?? news.error ?? "")}`, `✗ ${news.error ?? ""} ${news.message ?? ""}`];
  }
}

function brief(text) {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > 80 ? `${line.slice(0, 80)}…` : line;
}

function happened(news) {
  version = news.version ?? version;
  switch (news.kind) {
    case "output":
      printed(news.stream, news.text);
      break;
    case "prompt":
      asked(news);
      break;
    case "saved":
      // Somebody may have written on meanwhile.
      if (saves.shift() === script.text) entitle(news.name, true);
      say(`saved as ${news.name}`);
      break;
    case "unsaved":
      saves.shift();
      say(news.problem, true);
      break;
    case "ended": {
      ended();
      const how = news.stopped ? "stopped" : news.code === 0 ? "ended" : `failed (exit code ${news.code})`;
      say(`${how} after ${news.seconds} s`, news.code !== 0 && !news.stopped);
      if (!part("output").childNodes.length) printed("stdout", "(it has printed nothing)");
      if (news.timeline) drawTimeline();
      break;
    }
  }
}

function drawTimeline() {
  const frame = document.createElement("iframe");
  frame.title = "timeline of the last run";
  frame.setAttribute("sandbox", "allow-scripts");
  frame.src = `timeline?token=${encodeURIComponent(token)}&of=${Date.now()}`;
  part("timeline").replaceChildren(frame);
}

// Saving

// What is being saved, each to be answered.
let saves = [];
// Of the file, as this page knows it.
let version = "";

function save() {
  saves.push(script.text);
  send({ save: script.text });
}

function entitle(name, isSaved) {
  part("name").textContent = isSaved ? name : `${name} (not saved)`;
  document.title = `${name} - saftc play`;
}

// Beginning

async function begin() {
  const state = await (await fetch(`state?token=${encodeURIComponent(token)}`)).json();
  ({ uri, version } = state);
  entitle(state.name, state.saved);
  script = saft.editor(part("script"), {
    text: state.text,
    uri,
    transport: languageServer(),
    told,
    changed: () => entitle(state.name, false),
    moved: follow,
    keys: [
      ["Mod-Enter", run],
      ["Mod-s", save],
    ],
  });
  for (const name of Object.keys(state.examples)) {
    part("examples").append(new Option(name.replaceAll("_", " "), name));
  }
  part("examples").addEventListener("change", ({ target }) => {
    if (target.value) script.replace(state.examples[target.value]);
    target.value = "";
  });
  part("run").addEventListener("click", run);
  part("stop").addEventListener("click", () => send({ stop: true }));
  part("save").addEventListener("click", save);
  select("python");
}

begin();
