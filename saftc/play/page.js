// The page of `saftc play`: the script on one side, and what becomes of it on the other.
"use strict";

// Of the output, so much is shown, the last of it: lines, characters, and blocks of lines or prompts.
const MOST_LINES = 5_000;
const MOST_CHARACTERS = 1_000_000;
const MOST_BLOCKS = 2_000;
const LINES_IN_BLOCK = 200;
const LONGEST_BLOCK = 100_000;
const GONE = "saftc play has ended: start it again, and open the address that it prints";
const part = (id) => document.getElementById(id);
const token = tokenOfAddress();

// The token of the address stays in this tab, and not in the history.
function tokenOfAddress() {
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given !== null) {
    sessionStorage.setItem("saft-play-token", given);
    history.replaceState(null, "", location.pathname);
  }
  return given ?? sessionStorage.getItem("saft-play-token") ?? "";
}

const withToken = (path) => `${path}?${new URLSearchParams({ token })}`;

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
let errors = 0;
const views = {
  python: saft.viewer(part("python"), "python", "Python"),
  request: saft.viewer(part("request"), "text", "requests"),
};
const endings = { python: ".py", request: ".txt" };
const addressOf = (kind) => `saft-${kind}:${current.uri.slice("file:".length)}${endings[kind]}`;

async function refresh() {
  const kind = selected;
  part("stale").hidden = !(kind in views) || !errors;
  if (!(kind in views) || script === null) return;
  const uri = addressOf(kind);
  const found = await script.ask("workspace/textDocumentContent", { uri });
  if (uri !== addressOf(kind)) return;
  views[kind].show(found.text);
  follow(script.line);
}

async function follow(line) {
  const kind = selected;
  if (!(kind in views) || script === null) return;
  const view = addressOf(kind);
  const lines = await script.ask("saft/lines", { view, line });
  if (view === addressOf(kind)) views[kind].mark(lines);
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

// How often it has ended without a word.
let silent = 0;

function languageServer() {
  const connection = socket("language");
  const waiting = [];
  connection.addEventListener("open", () => waiting.splice(0).forEach((one) => connection.send(one)));
  connection.addEventListener("message", () => (silent = 0));
  connection.addEventListener("close", async (event) => {
    if (!(await isThere(event))) {
      say(GONE, true);
    } else if (silent === 3) {
      say("the language server ends at once: reload to try again", true);
    } else {
      silent += 1;
      script.reconnect(languageServer());
    }
  });
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

// Whether saftc play itself goes on, when a connection to it has ended.
async function isThere({ code }) {
  // It takes leave with this one.
  if (code === 1012) return false;
  try {
    return (await fetch(withToken("state"))).ok;
  } catch {
    return false;
  }
}

// Runs

let prompts = new Map();
let isRunning = false;
let running = null;
// The script that runs, or has run last, and the last of what it has written on standard error.
let ran = null;
let said = "";

function runs() {
  if (running === null) {
    running = socket("run", { version: own.version });
    running.addEventListener("message", ({ data }) => happened(JSON.parse(data)));
    running.addEventListener("close", async (event) => {
      running = null;
      saves = [];
      const wasRunning = isRunning;
      ended();
      if (!(await isThere(event))) say(GONE, true);
      else if (wasRunning) say("the connection was lost, and the run has ended with it", true);
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
  clearOutput();
  prompts = new Map();
  ran = current;
  said = "";
  script.fail(null);
  part("timeline").replaceChildren(soft("The run is drawn here when it has ended."));
  select("output");
  say("running");
  send({ run: script.text, name: ran.name });
}

function ended() {
  isRunning = false;
  part("run").disabled = false;
  part("stop").disabled = true;
}

function soft(text) {
  const made = document.createElement("p");
  made.className = "soft";
  made.textContent = text;
  return made;
}

// What comes is drawn once for each picture of the screen; of more than is shown, only the last is.

let waiting = [];
let waitingSize = 0;
let isDue = false;
// Of each block of output, its lines and characters; and what all of them have, and what has gone.
let blocks = new Map();
let lines = 0;
let size = 0;
let gone = 0;

function clearOutput() {
  part("output").textContent = "";
  [waiting, waitingSize, blocks, lines, size, gone] = [[], 0, new Map(), 0, 0, 0];
}

function happens(one) {
  waiting.push(one);
  waitingSize += one.text?.length ?? 0;
  while (waitingSize > 2 * MOST_CHARACTERS && waiting[0].text !== undefined && waiting.length > 1) {
    const { text } = waiting.shift();
    waitingSize -= text.length;
    gone += newlines(text);
  }
  if (isDue) return;
  isDue = true;
  requestAnimationFrame(draw);
  // A tab that is not seen has no pictures.
  setTimeout(draw, 500);
}

const newlines = (text) => text.split("\n").length - 1;

function draw() {
  if (!isDue && !waiting.length) return;
  isDue = false;
  const panel = part("output");
  const isAtEnd = panel.scrollHeight - panel.scrollTop - panel.clientHeight < 40;
  const news = waiting;
  [waiting, waitingSize] = [[], 0];
  for (let at = 0; at < news.length; at += 1) {
    if (news[at].prompt !== undefined) {
      asked(news[at].prompt);
      continue;
    }
    const texts = [news[at].text];
    while (news[at + 1]?.stream === news[at].stream) texts.push(news[(at += 1)].text);
    write(news[at].stream, texts.join(""));
  }
  if (gone && panel.firstElementChild?.id !== "gone") {
    panel.prepend(soft(""));
    panel.firstElementChild.id = "gone";
  }
  if (gone) part("gone").textContent = `(${gone.toLocaleString("en")} lines before these are not shown)`;
  if (isAtEnd) panel.scrollTop = panel.scrollHeight;
}

function write(stream, text) {
  for (let rest = text; rest; ) {
    const block = blockFor(stream);
    // Blocks end with lines, unless one is very long.
    let end = 0;
    for (let room = LINES_IN_BLOCK - block.lines; room && end < rest.length && end < LONGEST_BLOCK; room -= 1) {
      end = rest.indexOf("\n", end) + 1 || rest.length;
    }
    const piece = rest.slice(0, Math.min(end, LONGEST_BLOCK));
    rest = rest.slice(piece.length);
    block.size += piece.length;
    block.lines += newlines(piece);
    size += piece.length;
    lines += newlines(piece);
    block.node.append(...(stream === "stderr" ? withPlaces(piece) : [piece]));
    leaveOut();
  }
}

function blockFor(stream) {
  const last = blocks.get(part("output").lastElementChild);
  const goesOn = last?.stream === stream && last.lines < LINES_IN_BLOCK && last.size < LONGEST_BLOCK;
  if (goesOn) return last;
  const node = document.createElement("pre");
  node.className = stream;
  const made = { node, stream, lines: 0, size: 0 };
  blocks.set(node, made);
  part("output").append(node);
  return made;
}

function leaveOut() {
  const panel = part("output");
  while ((lines > MOST_LINES || size > MOST_CHARACTERS || panel.children.length > MOST_BLOCKS) && panel.children.length > 1) {
    const first = panel.firstElementChild.id === "gone" ? panel.children[1] : panel.firstElementChild;
    const block = blocks.get(first);
    if (block !== undefined) {
      blocks.delete(first);
      lines -= block.lines;
      size -= block.size;
      gone += block.lines;
    } else {
      prompts.delete(Number(first.dataset.prompt));
      gone += 1;
    }
    first.remove();
  }
}

// A text in which the places of the script lead there.
function withPlaces(text) {
  const name = ran.name.replace(/[^\w]/g, "\\$&");
  const found = [];
  let from = 0;
  for (const match of text.matchAll(new RegExp(`(?<![\\w/.-])${name}:(\\d+)(?::(\\d+))?`, "g"))) {
    found.push(text.slice(from, match.index), place(match[0], ran, match[1], match[2]));
    from = match.index + match[0].length;
  }
  return [...found, text.slice(from)];
}

function place(text, buffer, line, column = 1) {
  const made = document.createElement("button");
  made.className = "place";
  made.textContent = text;
  made.addEventListener("click", (event) => {
    event.preventDefault();
    open(buffer);
    script.go(Number(line), Number(column));
  });
  return made;
}

// A prompt is a line that opens: what was sent, what came back, and the calls of tools.
function asked(news) {
  if (!prompts.has(news.prompt)) {
    const made = document.createElement("details");
    made.dataset.prompt = news.prompt;
    made.append(document.createElement("summary"));
    prompts.set(news.prompt, made);
    part("output").append(made);
    leaveOut();
  }
  const made = prompts.get(news.prompt);
  const [word, text] = wordsOf(news);
  made.firstElementChild.replaceChildren(`Prompt ${news.prompt}`, ...placeOf(news), `: ${word}`);
  made.classList.toggle("failed", news.event === "failure");
  const body = document.createElement("pre");
  body.textContent = text;
  made.append(body);
}

function placeOf(news) {
  const [, name, line, column] = /^(.*):(\d+):(\d+)$/.exec(news.place ?? "") ?? [];
  if (!line) return [];
  return name === ran.name ? [", ", place(`line ${line}`, ran, line, column)] : [`, ${name}, line ${line}`];
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
  switch (news.kind) {
    case "output":
      if (news.stream === "stderr") said = (said + news.text).slice(-100_000);
      happens(news);
      break;
    case "prompt":
      happens({ prompt: news });
      break;
    case "saved":
      saved(saves.shift(), news);
      break;
    case "unsaved": {
      const asked = saves.shift();
      // The next time, it is known what is written over.
      if (asked && !asked.isNew) asked.buffer.version = news.version ?? asked.buffer.version;
      say(news.problem, true);
      break;
    }
    case "ended": {
      ended();
      draw();
      const how = news.stopped ? "stopped" : news.code === 0 ? "ended" : `failed (exit code ${news.code})`;
      say(`${how} after ${news.seconds} s`, news.code !== 0 && !news.stopped);
      if (!part("output").childNodes.length) write("stdout", "(it has printed nothing)");
      if (news.timeline) drawTimeline();
      else part("timeline").replaceChildren(soft("This run asked nothing."));
      if (news.code !== 0 && !news.stopped) markFailure();
      break;
    }
  }
}

// The line that an uncaught error names has the error below it, as one of the compiler's has.
function markFailure() {
  const name = ran.name.replace(/[^\w]/g, "\\$&");
  const found = [...said.matchAll(new RegExp(`^error: (.*)\\n(?:(?!error: ).*\\n)*? *--> ${name}:(\\d+):\\d+`, "gm"))];
  if (found.length && ran === current) script.fail(Number(found.at(-1)[2]), found.at(-1)[1]);
}

function drawTimeline() {
  const frame = document.createElement("iframe");
  frame.title = "timeline of the last run";
  frame.setAttribute("sandbox", "allow-scripts");
  frame.src = `${withToken("timeline")}&of=${Date.now()}`;
  part("timeline").replaceChildren(frame);
}

// Scripts: the file that the page was opened for, others that were saved here, and examples, which are
// in no file. `base` is the text that needs no saving, `text` the one that there is.

let own = null;
let current = null;
let folder = "";
const buffers = new Map();
// What is being saved, each to be answered.
let saves = [];

const isChanged = ({ text, base }) => text !== base;

function changed() {
  current.text = script.text;
  entitle();
  keep();
}

function entitle() {
  const isSaved = current.isSaved && !isChanged(current);
  part("name").textContent = isSaved ? current.name : `${current.name} (not saved)`;
  document.title = `${current.name} - saftc play`;
}

// What is not saved is still there when the page is loaded again.
function keep() {
  const kept = [...buffers.values()].filter((one) => isChanged(one) || (one !== own && one.isSaved));
  try {
    sessionStorage.setItem(`saft-play ${own.uri}`, JSON.stringify({ current: current.key, kept }));
  } catch {
    say("this is too large to be kept when the page is loaded again: save it", true);
  }
}

function keptBefore() {
  try {
    return JSON.parse(sessionStorage.getItem(`saft-play ${own.uri}`)) ?? {};
  } catch {
    return {};
  }
}

function open(buffer) {
  if (buffer === current) return;
  current = buffer;
  errors = 0;
  script.open(buffer.uri, buffer.base, buffer.text);
  part("examples").value = buffer.key;
  entitle();
  keep();
  refresh();
}

function add(buffer) {
  buffers.set(buffer.key, buffer);
  const isListed = [...part("examples").options].some(({ value }) => value === buffer.key);
  if (!isListed) {
    const option = new Option(buffer.label ?? buffer.name, buffer.key);
    part(buffer.label ? "of-project" : "files").append(option);
  }
  return buffer;
}

const file = (name, uri, text, more) => ({ key: `file:${name}`, name, uri, base: text, text, ...more });

function example(label, text) {
  const name = `untitled-${label}.saft`;
  return { key: label, name, label: label.replaceAll("_", " "), uri: `${folder}${name}`, base: text, text, isSaved: false };
}

function save() {
  const { text } = script;
  let { name } = current;
  if (current.label) {
    const given = prompt("Save this as a new script in the folder of " + own.name, name.slice("untitled-".length));
    if (!given?.trim()) {
      say("not saved: a script needs a name");
      return;
    }
    name = given.trim().replace(/(\.saft)?$/, ".saft");
  }
  const isNew = current.label !== undefined;
  saves.push({ buffer: current, text, isNew });
  send({ save: text, name, ...(isNew ? { new: true } : { version: current.version }) });
}

function saved({ buffer, text, isNew }, { name, uri, version }) {
  if (!isNew) {
    // Somebody may have written on meanwhile.
    Object.assign(buffer, { base: text, isSaved: true, version });
  } else {
    const made = add(file(name, uri, text, { text: buffer.text, isSaved: true, version }));
    Object.assign(buffer, { text: buffer.base });
    if (buffer === current) open(made);
    script.forget(buffer.uri);
  }
  entitle();
  keep();
  say(`saved as ${name}`);
}

// Beginning

async function begin() {
  const answer = await fetch(withToken("state"));
  if (!answer.ok) {
    say("open the address that `saftc play` has printed, with its token", true);
    for (const name of ["run", "save", "examples"]) part(name).disabled = true;
    return;
  }
  const state = await answer.json();
  folder = state.uri.slice(0, state.uri.lastIndexOf("/") + 1);
  own = add(file(state.name, state.uri, state.text, { isSaved: state.saved, version: state.version }));
  for (const [name, text] of Object.entries(state.examples)) add(example(name, text));
  const before = keptBefore();
  for (const one of before.kept ?? []) {
    // What was written is saved over the file that it was written from, and over no other.
    if (one.key === own.key) Object.assign(own, { text: one.text, version: one.version });
    else add(one);
  }
  script = saft.editor(part("script"), {
    transport: languageServer(),
    told,
    changed,
    moved: follow,
    keys: [
      ["Mod-Enter", run],
      ["Mod-s", save],
    ],
  });
  // The same keys outside of the editor, where the browser would save the page in place of the script.
  addEventListener("keydown", (event) => {
    const act = { Enter: run, s: save }[event.key];
    if (!act || event.defaultPrevented || event.shiftKey || event.altKey || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    act();
  });
  open(buffers.get(before.current) ?? own);
  part("examples").addEventListener("change", ({ target }) => {
    open(buffers.get(target.value));
    script.focus();
  });
  part("run").addEventListener("click", run);
  part("stop").addEventListener("click", () => send({ stop: true }));
  part("save").addEventListener("click", save);
  addEventListener("beforeunload", (event) => {
    if ([...buffers.values()].some(isChanged)) event.preventDefault();
  });
  select("python");
}

begin();
