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
const address = takeAddress();
const token = tokenOfAddress();

// What the address has behind its `#`: a token, or a script that somebody shares. It does not stay there.
function takeAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  if (given.has("token") || given.has("script")) history.replaceState(null, "", location.pathname);
  return given;
}

// The token of the address stays in this tab, and not in the history.
function tokenOfAddress() {
  const given = address.get("token");
  if (given !== null) {
    sessionStorage.setItem("saft-play-token", given);
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
    const isThis = tab.getAttribute("aria-controls") === name;
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
    const to = { ArrowRight: number + 1, ArrowLeft: number - 1 + tabs.length, Home: 0, End: tabs.length - 1 }[key];
    if (to !== undefined) select(tabs[to % tabs.length].getAttribute("aria-controls"), true);
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
      gone();
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

// Nothing here can do anything any more, but what is written can be copied.
function gone() {
  say(GONE, true);
  for (const name of ["run", "stop", "save"]) part(name).disabled = true;
}

// Runs

let prompts = new Map();
let isRunning = false;
let running = null;
// The script that runs, or has run last, and the last of what it has written on standard error.
let ran = null;
let said = "";
// What the run has taken until now; prompts by the lines at which they have failed.
let taken = null;
let failures = new Map();
let clock = null;

function runs() {
  if (running === null) {
    running = socket("run", { version: own.version });
    running.addEventListener("message", ({ data }) => happened(JSON.parse(data)));
    running.addEventListener("close", async (event) => {
      running = null;
      saves = [];
      const wasRunning = isRunning;
      ended();
      if (!(await isThere(event))) gone();
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
  taken = { began: Date.now(), prompts: 0, flying: 0, tokens: 0, cost: null, most: false };
  failures = new Map();
  script.fail([]);
  part("timeline").replaceChildren(soft("The run is drawn here as soon as it has asked something."));
  select("ran");
  say("running");
  const reads = /\binput\s*\(/.test(script.text);
  part("reads").hidden = !reads;
  clock = setInterval(tick, 250);
  send({ run: script.text, name: ran.name, reads, ...chosen() });
}

// What goes on, while it does.
function tick() {
  for (const prompt of prompts.values()) if (prompt.state === "asking") headline(prompt);
  const { prompts: count, flying, began } = taken;
  const words = [spent(taken), flying && `${flying} in flight`, time((Date.now() - began) / 1000)];
  part("counts").textContent = count ? words.filter(Boolean).join(", ") : words.at(-1);
}

const counted = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
const money = ({ cost, most }) => `cost ${most ? "at most " : ""}$${cost < 100 ? Number(cost.toPrecision(3)) : cost.toFixed(2)}`;

function time(seconds) {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  return seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}

function spent(sums) {
  const words = [counted(sums.prompts, "prompt"), sums.tokens && counted(sums.tokens, "token"), sums.cost && money(sums)];
  return words.filter(Boolean).join(", ");
}

function ended() {
  isRunning = false;
  part("run").disabled = false;
  part("stop").disabled = true;
  part("reads").hidden = true;
  clearInterval(clock);
  part("counts").textContent = "";
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
// Of each block of output, its lines and characters; and what all of them have, and what is not shown.
let blocks = new Map();
let lines = 0;
let size = 0;
let hidden = 0;

function clearOutput() {
  part("output").textContent = "";
  [waiting, waitingSize, blocks, lines, size, hidden] = [[], 0, new Map(), 0, 0, 0];
}

function happens(one) {
  waiting.push(one);
  waitingSize += one.text?.length ?? 0;
  while (waitingSize > 2 * MOST_CHARACTERS && waiting[0].text !== undefined && waiting.length > 1) {
    const { text } = waiting.shift();
    waitingSize -= text.length;
    hidden += newlines(text);
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
  if (hidden && panel.firstElementChild?.id !== "gone") {
    panel.prepend(soft(""));
    panel.firstElementChild.id = "gone";
  }
  if (hidden) part("gone").textContent = `(${hidden.toLocaleString("en")} lines before these are not shown)`;
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
      hidden += block.lines;
    } else {
      prompts.delete(Number(first.dataset.prompt));
      hidden += 1;
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
  let prompt = prompts.get(news.key);
  if (prompt === undefined) {
    const node = document.createElement("details");
    node.dataset.prompt = news.key;
    node.append(document.createElement("summary"));
    taken.prompts += 1;
    const sums = { seconds: 0, tokens: 0, cost: null, most: false };
    prompt = { node, number: taken.prompts, place: news.place, state: "asking", word: "", streamed: null, ...sums };
    prompts.set(news.key, prompt);
    part("output").append(node);
    leaveOut();
  }
  const change = CHANGES[news.event];
  if (change) change(prompt, news);
  headline(prompt);
}

const CHANGES = {
  request(prompt, { messages, model, again }) {
    if (prompt.state !== "asking" || !prompt.asked) taken.flying += 1;
    Object.assign(prompt, { state: "asking", asked: Date.now(), streamed: null, model, again });
    body(prompt, `→ ${messages.map((one) => one.join(": ")).join("\n  ")}`);
  },
  piece(prompt, { text }) {
    prompt.streamed ??= body(prompt, "← ");
    prompt.streamed.append(text);
    prompt.word = prompt.streamed.textContent.slice(2);
  },
  reply(prompt, { text, calls, tokens, cost, most, model, seconds }) {
    taken.flying -= 1;
    const asks = (calls ?? []).map((one) => `calls ${one.name} ${one.arguments}`);
    const all = [text, ...asks].filter(Boolean).join("\n  ");
    if (prompt.streamed) prompt.streamed.textContent = `← ${all}`;
    else body(prompt, `← ${all}`);
    Object.assign(prompt, { state: "answered", word: all, model: model || prompt.model });
    for (const sums of [prompt, taken]) {
      sums.tokens += tokens[0] + tokens[1];
      if (cost != null) sums.cost = (sums.cost ?? 0) + cost;
      sums.most ||= most;
    }
    prompt.seconds += seconds;
  },
  failure(prompt, { error, message, seconds }) {
    taken.flying -= 1;
    prompt.seconds += seconds ?? 0;
    Object.assign(prompt, { state: "failed", word: message || error });
    body(prompt, `✗ ${error}: ${message}`);
  },
  tool(prompt, { tool, error, result }) {
    body(prompt, `  ${tool} gave ${error ?? JSON.stringify(result)}`);
    prompt.word = `called ${tool}`;
  },
  over(prompt, { error, place }) {
    if (prompt.state === "asking") taken.flying -= 1;
    prompt.state = error ? "failed" : "answered";
    if (error) {
      prompt.word = error;
      const line = lineOf(place);
      if (line) failures.set(line, error);
      if (ran === current) script.fail([...failures]);
    }
    if (prompt.again) {
      const button = document.createElement("button");
      button.className = "again";
      button.textContent = "Ask again";
      button.title = "Sends the last request of this prompt again, without running the script";
      button.addEventListener("click", () => askAgain(prompt));
      prompt.node.append(button);
    }
  },
};

function body(prompt, text) {
  const made = document.createElement("pre");
  made.textContent = text;
  prompt.node.append(made);
  return made;
}

const WORDS = { asking: "asking", answered: "answered: ", failed: "failed: " };

// Who has answered, and what it took.
function headline(prompt) {
  const { node, number, place: where, state, word, model, seconds, tokens, cost, most, asked: since } = prompt;
  const what = state === "asking" ? (prompt.streamed ? `streaming: …${word.slice(-60)}` : "asking ...") : WORDS[state] + brief(word);
  const lasts = state === "asking" ? (Date.now() - since) / 1000 : seconds;
  const facts = [model, lasts >= 0.001 && time(lasts), tokens && counted(tokens, "token"), cost !== null && money({ cost, most })];
  const meta = document.createElement("span");
  meta.className = "meta";
  meta.textContent = ` ${facts.filter(Boolean).join(" · ")}`;
  node.firstElementChild.replaceChildren(`Prompt ${number}`, ...placeOf(where), `: ${what}`, meta);
  node.classList.toggle("failed", state === "failed");
}

// One prompt again: its last request, as it was sent, with whoever is chosen now.
let againOf = new Map();

function askAgain(prompt) {
  const key = Number(prompt.node.dataset.prompt);
  if (againOf.has(key)) return;
  againOf.set(key, { made: body(prompt, "again: asking ..."), text: "" });
  send({ again: key, ...chosen() });
}

function cameAgain({ key, event, text, calls, tokens, cost, most, model, seconds, error, message }) {
  const one = againOf.get(key);
  if (one === undefined) return;
  if (event === "piece") {
    one.text += text;
    one.made.textContent = `again: ${one.text}`;
    return;
  }
  againOf.delete(key);
  if (event === "failure") {
    one.made.textContent = `again, failed: ${error}: ${message}`;
    return;
  }
  const all = [text, ...calls.map((it) => `calls ${it.name} ${it.arguments}`)].filter(Boolean).join("\n  ");
  const facts = [model, time(seconds), counted(tokens[0] + tokens[1], "token"), cost != null && money({ cost, most })];
  one.made.textContent = `again (${facts.filter(Boolean).join(" · ")}): ${all}`;
}

function placeOf(text) {
  const [, name, line, column] = /^(.*):(\d+):(\d+)$/.exec(text ?? "") ?? [];
  if (!line) return [];
  return name === ran.name ? [", ", place(`line ${line}`, ran, line, column)] : [`, ${name}, line ${line}`];
}

function lineOf(text) {
  const [, name, line] = /^(.*):(\d+):\d+$/.exec(text ?? "") ?? [];
  return name === ran.name ? Number(line) : null;
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
    case "again":
      cameAgain(news);
      break;
    case "timeline":
      if (taken.prompts) drawTimeline();
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
      const took = taken.prompts ? `: ${spent(taken)}` : "";
      say(`${how} after ${news.seconds} s${took}`, news.code !== 0 && !news.stopped);
      if (!part("output").childNodes.length) write("stdout", "(it has printed nothing)");
      if (news.timeline && taken.prompts) drawTimeline();
      else part("timeline").replaceChildren(soft("This run asked nothing."));
      for (const prompt of prompts.values()) if (prompt.state === "asking") CHANGES.over(prompt, {}), headline(prompt);
      if (news.code !== 0 && !news.stopped) markFailure();
      break;
    }
  }
}

// The line that an uncaught error names has the error below it, as one of the compiler's has.
function markFailure() {
  const name = ran.name.replace(/[^\w]/g, "\\$&");
  const found = [...said.matchAll(new RegExp(`^error: (.*)\\n(?:(?!error: ).*\\n)*? *--> ${name}:(\\d+):\\d+`, "gm"))];
  if (!found.length) return;
  failures.set(Number(found.at(-1)[2]), found.at(-1)[1]);
  if (ran === current) script.fail([...failures]);
}

// The page of the timeline is there once for a run; more of the run is sent to it, so that what is
// looked at stays.
let drawings = 0;
let drawn = 0;

async function drawTimeline() {
  const of = ran, began = taken.began;
  let frame = part("timeline").querySelector("iframe");
  if (frame?.dataset.began !== String(began)) {
    frame = document.createElement("iframe");
    frame.title = "timeline of the last run";
    frame.dataset.began = began;
    frame.setAttribute("sandbox", "allow-scripts");
    frame.src = `${withToken("timeline")}&of=${Date.now()}`;
    part("timeline").replaceChildren(frame);
    frame.isReady = new Promise((done) => frame.addEventListener("load", done, { once: true }));
    await frame.isReady;
  }
  await frame.isReady;
  const number = (drawings += 1);
  const answer = await fetch(withToken("timeline"));
  const text = await answer.text();
  // Of two answers, the one that was asked for last knows more, whichever comes first.
  if (!answer.ok || of !== ran || began !== taken.began || number < drawn) return;
  drawn = number;
  const page = new DOMParser().parseFromString(text, "text/html");
  frame.contentWindow?.postMessage({ run: JSON.parse(page.getElementById("run").textContent) }, "*");
}

// Scripts: the file that the page was opened for, the others of its folder, and lessons and examples,
// which are in no file. `base` is the text that needs no saving, `text` the one that there is.

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
    say("this is too large to keep when the page is reloaded: save it", true);
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
  if (buffer === ran) script.fail([...failures]);
  part("examples").value = buffer.key;
  const lessons = lessonsInOrder();
  const at = lessons.indexOf(buffer.key);
  part("lesson").hidden = at < 0;
  part("back").disabled = at < 1;
  part("on").disabled = at === lessons.length - 1;
  entitle();
  keep();
  refresh();
}

const lessonsInOrder = () => [...part("of-tour").children].map(({ value }) => value);

function goLesson(by) {
  const lessons = lessonsInOrder();
  open(buffers.get(lessons[lessons.indexOf(current.key) + by]));
  script.focus();
}

// A script of the folder is read when it is wanted.
async function openFile(name) {
  const known = buffers.get(`file:${name}`);
  if (known) {
    open(known);
    return known;
  }
  const answer = await fetch(`${withToken("script")}&${new URLSearchParams({ name })}`);
  const { problem, uri, text, version } = await answer.json();
  if (problem) {
    say(problem, true);
    part("examples").value = current.key;
    return null;
  }
  open(add(file(name, uri, text, { isSaved: true, version })));
  return current;
}

async function elsewhere(uri, line, column) {
  const name = decodeURIComponent(uri.slice(uri.lastIndexOf("/") + 1));
  if (!uri.startsWith(folder) || uri.slice(folder.length) !== encodeURIComponent(name) || !name.endsWith(".saft")) {
    say(`the definition is in ${decodeURIComponent(uri.replace(/^file:\/\//, ""))}, line ${line}`);
  } else if (await openFile(name)) {
    script.go(line, column);
  }
}

async function explain(code) {
  const answer = await fetch(`${withToken("explain")}&${new URLSearchParams({ code })}`);
  part("explained").querySelector("pre").textContent = await answer.text();
  part("explained").showModal();
}

// Who answers: what the surroundings say, or somebody who is chosen here.
function chosen() {
  const value = part("answers").value;
  return value ? { choice: JSON.parse(value) } : {};
}

async function tellWhoAnswers() {
  const { provider, model, options, replay, problem, choices } = await (await fetch(withToken("who"))).json();
  const words = ([name, asks]) => (asks && asks !== name ? `${name} · ${asks}` : name);
  let who = provider ? words([provider, model]) : "no model is configured";
  if (provider === "none") who = "no model is configured";
  if (provider === "mock") who = "mock · rules, no model";
  if (replay) who = `the recording ${replay}`;
  const surroundings = new Option(who, "");
  const set = Object.entries(options ?? {}).map((pair) => pair.join(" "));
  surroundings.title = problem ?? (set.join(", ") || "as the environment and the project say");
  const others = choices.filter(([name]) => name !== provider || replay).map(([name, asks]) => {
    const asked = name === "mock" || name === "local" ? null : asks;
    return new Option(words([name, asks]), JSON.stringify({ provider: name, model: asked }));
  });
  part("answers").replaceChildren(surroundings, ...others);
  part("answers").title = surroundings.title;
  // Without a key, a first run has an answer all the same.
  if (!replay && (!provider || provider === "none")) part("answers").value = others.at(-1)?.value ?? "";
}

function add(buffer) {
  buffers.set(buffer.key, buffer);
  const isListed = [...part("examples").options].some(({ value }) => value === buffer.key);
  if (!isListed) {
    const option = new Option(buffer.title ?? buffer.label ?? buffer.name, buffer.key);
    part(buffer.group ?? "files").append(option);
  }
  return buffer;
}

const file = (name, uri, text, more) => ({ key: `file:${name}`, name, uri, base: text, text, ...more });

// What its first lines say is its title: of a lesson the first one, of an example the whole sentence.
function example(group, label, text) {
  const name = `untitled-${label}.saft`;
  const first = text.slice(0, text.indexOf("\n")).replace(/^\/\/ /, "");
  const [above] = /^(\/\/.*\n)*/.exec(text);
  const sentence = above.replace(/\n?\/\/ ?/g, " ").trim().replace(/\.$/, "");
  const title = group === "of-tour" ? `${Number(/\d+/.exec(label)[0])}. ${first}` : sentence;
  const shared = { key: label, name, label, group, title, uri: `${folder}${name}` };
  return { ...shared, base: text, text, isSaved: false };
}

// Sharing: a link has the script behind its `#`, which no server is sent. What a link brings is a new,
// unnamed script; nothing runs, and nothing that is there is replaced.

const MOST_SHARED = 300_000;
const bytesThrough = (bytes, how) => new Blob([bytes]).stream().pipeThrough(how);

async function packed(text) {
  const stream = bytesThrough(new TextEncoder().encode(text), new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const letters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

async function unpacked(data) {
  const letters = atob(data.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const reader = bytesThrough(bytes, new DecompressionStream("deflate-raw")).getReader();
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "", size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.length;
    // A few bytes can become very many.
    if (size > MOST_SHARED) throw new RangeError("too much");
    text += decoder.decode(value, { stream: true });
  }
}

async function share() {
  const plain = current.name.replace(/^untitled-/, "").replace(/\.saft$/, "");
  const name = /^[\w.-]{1,60}$/.test(plain) ? plain : "shared";
  const given = new URLSearchParams({ script: await packed(script.text), name });
  part("link").value = `${location.origin}/#${given}`;
  part("copied").textContent = "";
  part("shared").showModal();
  part("link").select();
}

async function openShared(given) {
  if (!given.has("script")) return;
  let text;
  try {
    text = await unpacked(given.get("script"));
  } catch {
    say("the script of this link cannot be read: a part of it may be missing", true);
    return;
  }
  const label = /^[\w.-]{1,60}$/.test(given.get("name") ?? "") ? given.get("name") : "shared";
  let number = 1;
  const key = () => `link-${label}-${number}`;
  while (buffers.has(key()) && buffers.get(key()).text !== text) number += 1;
  const name = `untitled-${label}${number > 1 ? `-${number}` : ""}.saft`;
  const made = { key: key(), name, label: name.slice("untitled-".length, -".saft".length), uri: `${folder}${name}` };
  const title = `${made.label} (from a link)`;
  // It is in no file: until it is saved, it counts as written here.
  open(buffers.get(made.key) ?? add({ ...made, title, group: "files", base: "", text: text.replaceAll("\r\n", "\n"), isSaved: false }));
  say("this script came with a link: read it before you run it");
}

async function copyLink() {
  try {
    await navigator.clipboard.writeText(part("link").value);
    part("copied").textContent = "copied";
  } catch {
    part("link").select();
    part("copied").textContent = "press Ctrl-C to copy it";
  }
}

// One file that shows the script without saftc, and runs nothing.
async function download() {
  const views = await Promise.all(
    ["python", "request"].map((kind) => script.ask("workspace/textDocumentContent", { uri: addressOf(kind) })),
  );
  const made = document.implementation.createHTMLDocument(current.name);
  made.documentElement.lang = "en";
  const policy = made.createElement("meta");
  policy.httpEquiv = "Content-Security-Policy";
  policy.content = "default-src 'none'; style-src 'unsafe-inline'";
  const style = made.createElement("style");
  style.textContent =
    ":root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif } body { max-width: 60rem; margin: 1rem auto; padding: 0 1rem }" +
    " pre { font: 13.5px/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid; padding: 0.6rem }";
  made.head.prepend(Object.assign(made.createElement("meta"), { name: "viewport", content: "width=device-width" }), policy);
  made.head.append(style);
  const add = (name, text) => made.body.append(Object.assign(made.createElement(name), { textContent: text }));
  add("h1", current.name.replace(/^untitled-/, ""));
  add("pre", script.text);
  for (const [title, { text }] of [["The Python that it becomes", views[0]], ["What its prompts send", views[1]]]) {
    add("h2", title);
    add("pre", text);
  }
  const link = document.createElement("a");
  const whole = `<!doctype html>\n<meta charset="utf-8">${made.documentElement.outerHTML}\n`;
  link.href = URL.createObjectURL(new Blob([whole], { type: "text/html" }));
  link.download = current.name.replace(/^untitled-/, "").replace(/\.saft$/, ".html");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// The size of the text, which the browser keeps.

const SIZES = [11, 12, 13.5, 15, 17, 20, 24];
let textSize = SIZES.includes(Number(localStorage.getItem("saft-play-size"))) ? Number(localStorage.getItem("saft-play-size")) : 13.5;

function resize(by) {
  const at = Math.min(SIZES.length - 1, Math.max(0, SIZES.indexOf(textSize) + by));
  textSize = SIZES[at];
  localStorage.setItem("saft-play-size", textSize);
  document.documentElement.style.setProperty("--size", `${textSize}px`);
  part("smaller").disabled = at === 0;
  part("larger").disabled = at === SIZES.length - 1;
  // The editors measure their lines again.
  dispatchEvent(new Event("resize"));
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
    for (const name of ["run", "save", "examples", "answers", "share"]) part(name).disabled = true;
    return;
  }
  const state = await answer.json();
  folder = state.uri.slice(0, state.uri.lastIndexOf("/") + 1);
  own = add(file(state.name, state.uri, state.text, { isSaved: state.saved, version: state.version }));
  for (const name of state.files) part("files").append(new Option(name, `file:${name}`));
  for (const [name, text] of Object.entries(state.tour)) add(example("of-tour", name, text));
  for (const [heading, texts] of Object.entries(state.examples)) {
    const group = Object.assign(document.createElement("optgroup"), { label: heading, id: `of-${heading.replaceAll(" ", "-")}` });
    part("examples").append(group);
    for (const [name, text] of Object.entries(texts)) add(example(group.id, name, text));
  }
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
    explain,
    elsewhere,
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
  part("examples").addEventListener("change", async ({ target }) => {
    if (buffers.has(target.value)) open(buffers.get(target.value));
    else await openFile(target.value.slice("file:".length));
    script.focus();
  });
  part("back").addEventListener("click", () => goLesson(-1));
  part("on").addEventListener("click", () => goLesson(1));
  part("keys").addEventListener("click", () => {
    part("help").hidden = !part("help").hidden;
    part("keys").setAttribute("aria-expanded", !part("help").hidden);
  });
  part("reads").addEventListener("submit", (event) => {
    event.preventDefault();
    send({ input: part("line").value });
    happens({ stream: "stdout", text: `${part("line").value}\n` });
    part("line").value = "";
  });
  part("run").addEventListener("click", run);
  part("stop").addEventListener("click", () => {
    say("stopping ...");
    send({ stop: true });
  });
  part("save").addEventListener("click", save);
  part("share").addEventListener("click", share);
  part("copy").addEventListener("click", copyLink);
  part("download").addEventListener("click", download);
  part("smaller").addEventListener("click", () => resize(-1));
  part("larger").addEventListener("click", () => resize(1));
  resize(0);
  addEventListener("hashchange", () => openShared(takeAddress()));
  addEventListener("beforeunload", (event) => {
    if ([...buffers.values()].some(isChanged)) event.preventDefault();
  });
  select("python");
  script.focus();
  tellWhoAnswers();
  split();
  firstView();
  openShared(address);
}

// The Python that the script becomes, until the language server has it.
async function firstView() {
  if (current !== own || isChanged(own)) return;
  if (!views.python.text) views.python.show("# compiling ...");
  const answer = await fetch(withToken("python"));
  const text = answer.ok ? await answer.text() : "";
  if (text && current === own && views.python.text === "# compiling ...") views.python.show(text);
}

// The line between the two sides is drawn by mouse and by keys.
function split() {
  const line = part("splitter");
  const set = (share) => {
    const now = Math.round(Math.min(85, Math.max(15, share)));
    line.setAttribute("aria-valuenow", now);
    line.parentElement.style.setProperty("--share", `${now}%`);
  };
  line.addEventListener("pointerdown", ({ pointerId }) => line.setPointerCapture(pointerId));
  line.addEventListener("pointermove", ({ clientX, buttons }) => buttons && set((clientX / innerWidth) * 100));
  line.addEventListener("keydown", ({ key }) => {
    const by = { ArrowLeft: -5, ArrowRight: 5 }[key];
    if (by) set(Number(line.getAttribute("aria-valuenow")) + by);
  });
}

begin();
