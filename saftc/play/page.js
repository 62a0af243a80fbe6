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
let token = "";
// What the address has behind its `#`: a token, or a script that somebody shares. It does not stay there.
function takeAddress() {
  const given = new URLSearchParams(location.hash.slice(1));
  if (given.has("token") || given.has("script")) history.replaceState(null, "", location.pathname);
  return given;
}

// The token of the address stays in this tab, and not in the history.
function useToken(given) {
  if (given !== null) sessionStorage.setItem("saft-play-token", given);
  token = sessionStorage.getItem("saft-play-token") ?? "";
}

useToken(address.get("token"));

const withToken = (path) => `${path}?${new URLSearchParams({ token })}`;

function socket(path, more = {}) {
  return new WebSocket(`ws://${location.host}/${path}?${new URLSearchParams({ token, ...more })}`);
}

function say(text, isWrong = false, id = "status") {
  part(id).textContent = part(id).title = text;
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
// They are scrolled by keyboard, too.
for (const one of document.querySelectorAll("#shown .cm-scroller")) one.tabIndex = 0;
const endings = { python: ".py", request: ".txt" };
const addressOf = (kind) => `saft-${kind}:${current.uri.slice("file:".length)}${endings[kind]}`;

// One view is asked for at a time: meanwhile the text may have changed several times.
let isFetching = false;
let isDueAgain = false;
async function refresh() {
  part("stale").hidden = !(selected in views) || !errors;
  isDueAgain = true;
  if (isFetching) return;
  isFetching = true;
  try {
    while (isDueAgain) {
      isDueAgain = false;
      await fetchView();
    }
  } finally {
    isFetching = false;
  }
}

async function fetchView() {
  const kind = selected;
  if (!(kind in views) || script === null) return;
  const uri = addressOf(kind);
  const found = await script.ask("workspace/textDocumentContent", { uri });
  if (kind !== selected || uri !== addressOf(kind)) return;
  views[kind].show(found.text);
  follow(script.line);
}

// Whether the language server has not said yet what it thinks of the text as it is.
let isUnread = false;

async function follow(line) {
  const kind = selected;
  // The lines of a text that is being written would cost its whole module, at each letter.
  if (!(kind in views) || script === null || isUnread) return;
  const view = addressOf(kind);
  const lines = await script.ask("saft/lines", { view, line });
  if (view === addressOf(kind)) views[kind].mark(lines);
}

function told({ diagnostics }) {
  isUnread = false;
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
      isFetching = false;
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

// Runs: what each script has given is shown with that script. One runs at a time.

let isRunning = false;
let running = null;
let clock = null;
// The result of the run that goes on, or was the last one.
let ran = null;
// What the run waits for: a line ("reads"), or a decision ("waits").
let question = null;

class Result {
  constructor(buffer) {
    this.buffer = buffer;
    this.output = document.createElement("div");
    this.timeline = document.createElement("div");
    this.prompts = new Map();
    // By the lines at which they have failed, the errors of prompts and of the run.
    this.failures = new Map();
    // Of each block of output, its lines and characters; what all of them have, and what is not shown.
    this.blocks = new Map();
    [this.lines, this.size, this.hidden] = [0, 0, 0];
    // The last of what was written on standard error.
    this.errors = "";
    this.news = ["", false];
    // What the run has taken until now.
    Object.assign(this, { began: Date.now(), asked: 0, flying: 0, tokens: 0, cost: null, most: false });
    part("output").append(this.output);
    part("timeline").append(this.timeline);
  }

  remove() {
    this.output.remove();
    this.timeline.remove();
  }

  // Says how the run is, also while another script is open.
  say(text, isWrong = false) {
    this.news = [text, isWrong];
    say(current === this.buffer ? text : `${this.buffer.name}: ${text}`, isWrong);
  }
}

// Shows what the current script has given, and what its run asks.
const hints = { output: part("no-output"), timeline: part("no-timeline") };

function showResult() {
  for (const [panel, hint] of Object.entries(hints)) {
    if (current.result) hint.remove();
    else part(panel).append(hint);
    for (const child of part(panel).children) child.hidden = child !== (current.result?.[panel] ?? hint);
  }
  for (const form of ["reads", "waits"]) part(form).hidden = question?.kind !== form || current !== ran.buffer;
}

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
      else if (wasRunning) ran.say("the connection was lost, and the run has ended with it", true);
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
  // The server has the requests of the last run alone.
  for (const button of document.querySelectorAll("#output .again")) button.remove();
  [waiting, waitingSize] = [[], 0];
  current.result?.remove();
  ran = current.result = new Result(current);
  ran.timeline.append(soft("The run is drawn here as soon as it sends a prompt."));
  script.fail([]);
  showResult();
  select("ran");
  ran.say("starting");
  clock = setInterval(tick, 250);
  send({ run: script.text, name: current.name, ...chosen() });
}

// A line is typed, a decision is made: the run waits for it, and so does the page.
function asks(news) {
  question = news;
  const isRead = news.kind === "reads";
  ran.say(isRead ? "waits for a line" : "waits for your approval of a call");
  if (!isRead) {
    part("call").textContent = news.shown + (news.place ? `\n  at ${news.place}` : "");
    part("unfit").textContent = news.problem ?? "";
    if (news.problem === null) part("arguments").value = news.arguments ?? "";
    part("arguments").rows = Math.min(8, newlines(part("arguments").value) + 1);
    part("changes").hidden = part("change").hidden = news.arguments === null;
    part("reason").value = "";
  }
  showResult();
  if (current !== ran.buffer) return;
  select("ran");
  part(isRead ? "line" : "waits").focus();
}

function answerRun(line) {
  question = null;
  part("line").value = "";
  showResult();
  part("output").focus();
  ran.say("running");
  send({ input: line });
}

// What goes on, while it does.
function tick() {
  for (const prompt of ran.prompts.values()) if (prompt.state === "asking") headline(prompt);
  const { asked: count, flying, began } = ran;
  const words = [spent(ran), flying && `${flying} in flight`, time((Date.now() - began) / 1000)];
  part("counts").textContent = count ? words.filter(Boolean).join(", ") : words.at(-1);
}

const counted = (number, word) => `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
const money = ({ cost, most }) => `cost ${most ? "at most " : ""}$${cost < 100 ? Number(cost.toPrecision(3)) : cost.toFixed(2)}`;

function time(seconds) {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  return seconds < 60 ? `${seconds.toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}

function spent(sums) {
  const words = [counted(sums.asked, "prompt"), sums.tokens && counted(sums.tokens, "token"), sums.cost && money(sums)];
  return words.filter(Boolean).join(", ");
}

function ended() {
  isRunning = false;
  part("run").disabled = false;
  part("stop").disabled = true;
  question = null;
  showResult();
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
function happens(one) {
  waiting.push(one);
  waitingSize += one.text?.length ?? 0;
  while (waitingSize > 2 * MOST_CHARACTERS && waiting[0].text !== undefined && waiting.length > 1) {
    const { text } = waiting.shift();
    waitingSize -= text.length;
    ran.hidden += newlines(text);
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
  const { output, hidden } = ran;
  if (hidden && !output.firstElementChild?.classList.contains("gone")) {
    output.prepend(soft(""));
    output.firstElementChild.classList.add("gone");
  }
  if (hidden) output.firstElementChild.textContent = `(${hidden.toLocaleString("en")} lines before these are not shown)`;
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
    ran.size += piece.length;
    ran.lines += newlines(piece);
    block.node.append(...(stream === "stderr" ? withPlaces(piece) : [piece]));
    leaveOut();
  }
}

function blockFor(stream) {
  const last = ran.blocks.get(ran.output.lastElementChild);
  const goesOn = last?.stream === stream && last.lines < LINES_IN_BLOCK && last.size < LONGEST_BLOCK;
  if (goesOn) return last;
  const node = document.createElement("pre");
  node.className = stream;
  const made = { node, stream, lines: 0, size: 0 };
  ran.blocks.set(node, made);
  ran.output.append(node);
  return made;
}

function leaveOut() {
  const { children } = ran.output;
  while ((ran.lines > MOST_LINES || ran.size > MOST_CHARACTERS || children.length > MOST_BLOCKS) && children.length > 1) {
    const first = children[0].classList.contains("gone") ? children[1] : children[0];
    const block = ran.blocks.get(first);
    if (block !== undefined) {
      ran.blocks.delete(first);
      ran.lines -= block.lines;
      ran.size -= block.size;
      ran.hidden += block.lines;
    } else {
      ran.prompts.delete(Number(first.dataset.prompt));
      ran.hidden += 1;
    }
    first.remove();
  }
}

// A text in which the places of the script lead there.
function withPlaces(text) {
  const name = ran.buffer.name.replace(/[^\w]/g, "\\$&");
  const found = [];
  let from = 0;
  for (const match of text.matchAll(new RegExp(`(?<![\\w/.-])${name}:(\\d+)(?::(\\d+))?`, "g"))) {
    found.push(text.slice(from, match.index), place(match[0], ran.buffer, match[1], match[2]));
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
  let prompt = ran.prompts.get(news.key);
  if (prompt === undefined) {
    const row = document.createElement("div"), node = document.createElement("details");
    row.className = "prompt";
    row.dataset.prompt = news.key;
    node.append(document.createElement("summary"));
    const line = lineOf(news.place);
    row.append(node, ...(line ? [place(`line ${line}`, ran.buffer, ...news.place.split(":").slice(-2))] : []));
    ran.asked += 1;
    const sums = { seconds: 0, tokens: 0, cost: null, most: false };
    prompt = { node, number: ran.asked, place: news.place, state: "asking", word: "", streamed: null, ...sums };
    ran.prompts.set(news.key, prompt);
    ran.output.append(row);
    leaveOut();
  }
  const change = CHANGES[news.event];
  if (change) change(prompt, news);
  headline(prompt);
}

const CHANGES = {
  request(prompt, { messages, model, again }) {
    if (prompt.state !== "asking" || !prompt.asked) ran.flying += 1;
    Object.assign(prompt, { state: "asking", asked: Date.now(), streamed: null, model, again });
    body(prompt, `→ ${messages.map((one) => one.join(": ")).join("\n  ")}`);
  },
  piece(prompt, { text }) {
    prompt.streamed ??= body(prompt, "← ");
    prompt.streamed.append(text);
    prompt.word = prompt.streamed.textContent.slice(2);
  },
  reply(prompt, { text, calls, tokens, cost, most, model, seconds }) {
    ran.flying -= 1;
    const asks = (calls ?? []).map((one) => `calls ${one.name} ${one.arguments}`);
    const all = [text, ...asks].filter(Boolean).join("\n  ");
    if (prompt.streamed) prompt.streamed.textContent = `← ${all}`;
    else body(prompt, `← ${all}`);
    Object.assign(prompt, { state: "answered", word: all, model: model || prompt.model });
    for (const sums of [prompt, ran]) {
      sums.tokens += tokens[0] + tokens[1];
      if (cost != null) sums.cost = (sums.cost ?? 0) + cost;
      sums.most ||= most;
    }
    prompt.seconds += seconds;
  },
  failure(prompt, { error, message, seconds }) {
    ran.flying -= 1;
    prompt.seconds += seconds ?? 0;
    Object.assign(prompt, { state: "failed", word: message || error });
    body(prompt, `✗ ${error}: ${message}`);
  },
  tool(prompt, { tool, error, result }) {
    body(prompt, `  ${tool} gave ${error ?? JSON.stringify(result)}`);
    prompt.word = `called ${tool}`;
  },
  over(prompt, { error, place }) {
    if (prompt.state === "asking") ran.flying -= 1;
    prompt.state = error ? "failed" : "answered";
    if (error) {
      prompt.word = error;
      const line = lineOf(place);
      if (line) ran.failures.set(line, error);
      if (ran.buffer === current) script.fail([...ran.failures]);
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
  node.firstElementChild.replaceChildren(`Prompt ${number}${lineOf(where) || !where ? "" : `, ${where}`}: ${what}`, meta);
  node.classList.toggle("failed", state === "failed");
}

// One prompt again: its last request, as it was sent, with whoever is chosen now.
let againOf = new Map();

function askAgain(prompt) {
  const key = Number(prompt.node.parentElement.dataset.prompt);
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

// The line of a place in the script that runs; 0 for one that is elsewhere.
function lineOf(text) {
  const [, name, line] = /^(.*):(\d+):\d+$/.exec(text ?? "") ?? [];
  return name === ran.buffer.name ? Number(line) : 0;
}

const oneLine = (text) => text.replace(/\s+/g, " ").trim();

function brief(text) {
  const line = oneLine(text);
  return line.length > 80 ? `${line.slice(0, 80)}…` : line;
}

function happened(news) {
  switch (news.kind) {
    case "output":
      if (news.stream === "stderr") ran.errors = (ran.errors + news.text).slice(-100_000);
      happens(news);
      break;
    case "prompt":
      happens({ prompt: news });
      break;
    case "again":
      cameAgain(news);
      break;
    case "begun":
      ran.say("running");
      break;
    case "reads":
    case "waits":
      draw();
      asks(news);
      break;
    case "timeline":
      if (ran.asked) drawTimeline();
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
      const took = ran.asked ? `: ${spent(ran)}` : "";
      const start = news.start ? ` (and ${time(news.start)} to start)` : "";
      ran.say(`${how} after ${time(news.seconds)}${start}${took}`, news.code !== 0 && !news.stopped);
      if (!ran.output.childNodes.length) write("stdout", "(no output)");
      if (news.timeline && ran.asked) drawTimeline();
      else ran.timeline.replaceChildren(soft("This run sent no prompt."));
      for (const prompt of ran.prompts.values()) if (prompt.state === "asking") CHANGES.over(prompt, {}), headline(prompt);
      if (news.code !== 0 && !news.stopped) markFailure();
      break;
    }
  }
}

// The line that an uncaught error names has the error below it, as one of the compiler's has.
function markFailure() {
  const name = ran.buffer.name.replace(/[^\w]/g, "\\$&");
  const found = [...ran.errors.matchAll(new RegExp(`^error: (.*)\\n(?:(?!error: ).*\\n)*? *--> ${name}:(\\d+):\\d+`, "gm"))];
  if (!found.length) return;
  ran.failures.set(Number(found.at(-1)[2]), found.at(-1)[1]);
  if (ran.buffer === current) script.fail([...ran.failures]);
}

// The page of the timeline is there once for a run; more of the run is sent to it, so that what is
// looked at stays.
let drawings = 0;
let drawn = 0;

async function drawTimeline() {
  const of = ran;
  let frame = of.timeline.querySelector("iframe");
  if (frame === null) {
    frame = document.createElement("iframe");
    frame.title = `timeline of ${of.buffer.name}`;
    frame.setAttribute("sandbox", "allow-scripts");
    frame.src = `${withToken("timeline")}&of=${of.began}`;
    of.timeline.replaceChildren(frame);
    frame.isReady = new Promise((done) => frame.addEventListener("load", done, { once: true }));
  }
  await frame.isReady;
  const number = (drawings += 1);
  const answer = await fetch(withToken("timeline"));
  const text = await answer.text();
  // Of two answers, the one that was asked for last knows more, whichever comes first.
  if (!answer.ok || of !== ran || number < drawn) return;
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
  isUnread = true;
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
    const text = JSON.stringify({ current: current.key, kept }, (name, value) => (name === "result" ? undefined : value));
    sessionStorage.setItem(`saft-play ${own.uri}`, text);
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
  if (buffer.result) script.fail([...buffer.result.failures]);
  showResult();
  const [text, isWrong] = buffer.result?.news ?? [isRunning ? `${ran.buffer.name} is running` : "", false];
  say(text, isWrong);
  part("examples").value = buffer.key;
  showLesson();
  offerAnswers();
  entitle();
  keep();
  refresh();
}

function showLesson() {
  const lessons = lessonsInOrder();
  const at = lessons.indexOf(current.key);
  part("lesson").hidden = at < 0;
  part("back").disabled = at < 1;
  part("on").disabled = at === lessons.length - 1;
  if (at < 0) return;
  part("lesson-title").textContent = current.title;
  const pieces = current.about.split("`").map((piece, number) => {
    return number % 2 ? Object.assign(document.createElement("code"), { textContent: piece }) : piece;
  });
  part("lesson-text").replaceChildren(...pieces);
  // The editors measure their lines again.
  dispatchEvent(new Event("resize"));
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

// Who answers: what the surroundings say, or somebody who is chosen here. A lesson has answers of its own.
let hasChosen = false;
let usual = "";

function chosen() {
  const { value } = part("answers");
  if (value === "recorded") return { choice: { recording: current.key } };
  return value ? { choice: JSON.parse(value) } : {};
}

function offerAnswers() {
  const isLesson = current.group === "of-tour", known = part("recorded");
  if (isLesson && known === null) {
    const made = Object.assign(new Option("the lesson's own", "recorded"), { id: "recorded" });
    made.title = "recorded answers; the mock answers what you change";
    part("answers").prepend(made);
  } else if (!isLesson) {
    known?.remove();
  }
  if (!hasChosen) part("answers").value = isLesson ? "recorded" : usual;
}

async function tellWhoAnswers() {
  const { provider, model, options, replay, problem, choices } = await (await fetch(withToken("who"))).json();
  const words = ([name, asks]) => (asks && asks !== name ? `${name} · ${asks}` : name);
  let who = provider ? words([provider, model]) : "no model is configured";
  if (provider === "unset") who = "no model is configured";
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
  if (!replay && (!provider || provider === "unset")) usual = others.at(-1)?.value ?? "";
  part("answers").value = usual;
  offerAnswers();
}

function add(buffer) {
  buffers.set(buffer.key, buffer);
  const isListed = [...part("examples").options].some(({ value }) => value === buffer.key);
  if (!isListed) {
    const option = new Option(buffer.words ?? buffer.name, buffer.key);
    option.title = buffer.title ?? "";
    part(buffer.group ?? "files").append(option);
  }
  return buffer;
}

const file = (name, uri, text, more) => ({ key: `file:${name}`, name, uri, base: text, text, ...more });

// What its first lines say is its title: of a lesson the first one, of an example the whole sentence. The
// other lines at the beginning of a lesson stand beside it.
function example(group, label, text) {
  const name = `untitled-${label}.saft`;
  const [above] = /^(\/\/.*\n)*\n?/.exec(text);
  const said = above.replace(/^\/\/ ?/gm, "");
  const shared = { key: label, name, label, group, uri: `${folder}${name}`, isSaved: false };
  if (group !== "of-tour") return { ...shared, words: label, title: oneLine(said).replace(/\.$/, ""), base: text, text };
  const [first] = said.split("\n", 1);
  const title = `${Number(/\d+/.exec(label)[0])}. ${first}`;
  const code = text.slice(above.length);
  return { ...shared, words: title, title, about: oneLine(said.slice(first.length)), base: code, text: code };
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
  part("command").value = commandFor(given);
  part("copied").textContent = "";
  part("shared").showModal();
  part("command").select();
}

const commandFor = (given) => `saftc play --link '#${given}'`;

async function openShared(given) {
  if (!given.has("script")) return;
  let text;
  try {
    text = await unpacked(given.get("script"));
  } catch {
    say(TORN, true);
    return;
  }
  const label = /^[\w.-]{1,60}$/.test(given.get("name") ?? "") ? given.get("name") : "shared";
  let number = 1;
  const key = () => `link-${label}-${number}`;
  while (buffers.has(key()) && buffers.get(key()).text !== text) number += 1;
  const name = `untitled-${label}${number > 1 ? `-${number}` : ""}.saft`;
  const made = { key: key(), name, label: name.slice("untitled-".length, -".saft".length), uri: `${folder}${name}` };
  const words = `${made.label} (from a link)`;
  // It is in no file: until it is saved, it counts as written here.
  open(buffers.get(made.key) ?? add({ ...made, words, group: "files", base: "", text: text.replaceAll("\r\n", "\n"), isSaved: false }));
  say("this script came with a link: read it before you run it");
}

async function copy(id) {
  const status = part("shared").open ? "copied" : "status";
  try {
    await navigator.clipboard.writeText(part(id).value);
    say("copied", false, status);
  } catch {
    part(id).select();
    say("press Ctrl-C to copy it", false, status);
  }
}

for (const button of document.querySelectorAll("[data-copies]")) {
  button.addEventListener("click", () => copy(button.dataset.copies));
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

// Without the token, a script that a link has brought can be read, and nothing runs. A tab of this browser
// that has the token gives it to one that has none.
const tabsOfPage = new BroadcastChannel("saft-play");
tabsOfPage.addEventListener("message", ({ data }) => {
  if (data === "token?" && own !== null) {
    tabsOfPage.postMessage({ token });
  } else if (data.token && own === null && token !== data.token) {
    useToken(data.token);
    begin();
  }
});

async function lock() {
  for (const one of ["tools", "main"]) part(one).hidden = true;
  part("locked").hidden = false;
  tabsOfPage.postMessage("token?");
  if (!address.has("script")) return;
  try {
    document.querySelector("#unpacked pre").textContent = await unpacked(address.get("script"));
    part("opening").value = commandFor(address);
    part("unpacked").hidden = false;
    part("no-token").hidden = true;
  } catch {
    say(TORN, true);
  }
}

const TORN = "the script of this link cannot be read: a part of it may be missing";

async function begin() {
  const answer = token ? await fetch(withToken("state")) : { ok: false };
  if (!answer.ok) {
    await lock();
    return;
  }
  for (const one of ["tools", "main"]) part(one).hidden = false;
  part("locked").hidden = true;
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
    happens({ stream: "stdout", text: `${part("line").value}\n` });
    answerRun(part("line").value);
  });
  part("no-more").addEventListener("click", () => answerRun(null));
  part("waits").addEventListener("submit", (event) => {
    event.preventDefault();
    const verdict = event.submitter?.value ?? "no";
    answerRun(JSON.stringify({ verdict, reason: part("reason").value, arguments: part("arguments").value }));
  });
  part("answers").addEventListener("change", () => (hasChosen = true));
  part("run").addEventListener("click", run);
  part("stop").addEventListener("click", () => {
    ran.say("stopping ...");
    send({ stop: true });
  });
  part("save").addEventListener("click", save);
  part("share").addEventListener("click", share);
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
