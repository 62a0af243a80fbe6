// The editor of `saftc play`: CodeMirror, and a client of the language server, which also tells the
// colours. `npm run build` bundles it into saftc/play/editor.js.

import {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  completionStatus,
  moveCompletionSelection,
  selectedCompletionIndex,
} from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import {
  HighlightStyle,
  bracketMatching,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from "@codemirror/language";
import { lintGutter, lintKeymap } from "@codemirror/lint";
import {
  LSPClient,
  findReferencesKeymap,
  formatKeymap,
  hoverTooltips,
  renameKeymap,
  serverCompletion,
  serverDiagnostics,
  signatureHelp,
} from "@codemirror/lsp-client";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, MapMode, Prec, RangeSetBuilder, StateEffect, StateField } from "@codemirror/state";
import {
  Decoration,
  EditorView,
  WidgetType,
  drawSelection,
  highlightActiveLine,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";

// Colours, as variables of the page: light and dark.

const style = HighlightStyle.define([
  { tag: tags.comment, color: "var(--comment)", fontStyle: "italic" },
  { tag: [tags.keyword, tags.modifier], color: "var(--keyword)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--string)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--number)" },
  { tag: [tags.typeName, tags.className], color: "var(--type)" },
  { tag: tags.function(tags.variableName), color: "var(--function)" },
  { tag: tags.punctuation, color: "var(--soft)" },
]);

// The colours of a script, as the language server tells them; `colour` takes its answer.

const SHOWN_KINDS = ["comment", "function", "keyword", "number", "string", "type"];
const marks = Object.fromEntries(SHOWN_KINDS.map((kind) => [kind, Decoration.mark({ class: `saft-${kind}` })]));
const COLOURS = {
  textDocument: {
    semanticTokens: {
      requests: { full: true },
      tokenTypes: SHOWN_KINDS,
      tokenModifiers: [],
      formats: ["relative"],
    },
  },
};
const colour = StateEffect.define();
const coloured = StateField.define({
  create: () => Decoration.none,
  update(value, transaction) {
    for (const effect of transaction.effects) {
      if (!effect.is(colour)) continue;
      const { kinds, data } = effect.value;
      const { doc } = transaction.state;
      const builder = new RangeSetBuilder();
      let line = 1;
      let character = 0;
      for (let at = 0; at < data.length; at += 5) {
        const [down, right, length, kind] = data.slice(at, at + 4);
        line += down;
        character = down ? right : character + right;
        const from = doc.line(line).from + character;
        const mark = marks[kinds[kind]];
        if (mark !== undefined) builder.add(from, from + length, mark);
      }
      return builder.finish();
    }
    return value.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

// What the editor has to know of the language by itself.
const language = EditorState.languageData.of(() => [
  { commentTokens: { line: "//" }, closeBrackets: { brackets: ["(", "[", "{", '"'], stringPrefixes: ["f"] } },
]);

// Lines that are marked: those that the cursor's line has become.

const mark = StateEffect.define();
const marked = StateField.define({
  create: () => Decoration.none,
  update(value, transaction) {
    for (const effect of transaction.effects) {
      if (!effect.is(mark)) continue;
      const builder = new RangeSetBuilder();
      const { doc } = transaction.state;
      for (let line = effect.value.first; line <= Math.min(effect.value.last, doc.lines); line += 1) {
        builder.add(doc.line(line).from, doc.line(line).from, Decoration.line({ class: "marked" }));
      }
      return builder.finish();
    }
    return value.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

// What is wrong, below the lines where it is.

class Message extends WidgetType {
  constructor({ message, severity, code }, actions) {
    super();
    this.text = message;
    this.isError = severity === 1;
    this.code = code;
    this.actions = actions;
  }
  eq(other) {
    return other.text === this.text && other.isError === this.isError && other.code === this.code;
  }
  toDOM(view) {
    const made = document.createElement("div");
    made.className = `message ${this.isError ? "error" : "warning"}`;
    // What is between backticks is of the script.
    this.text.split("`").forEach((part, at) => {
      const piece = document.createElement(at % 2 ? "code" : "span");
      piece.textContent = part;
      made.append(piece);
    });
    this.actions?.(made, this, view);
    return made;
  }
}

function below(effectOf) {
  return StateField.define({
    create: () => Decoration.none,
    update(value, transaction) {
      for (const effect of transaction.effects) {
        if (!effect.is(effectOf)) continue;
        const { doc } = transaction.state;
        const { found, actions } = effect.value;
        const shown = found
          .filter(({ severity, range }) => severity <= 2 && range.start.line < doc.lines)
          .map((one) =>
            Decoration.widget({ widget: new Message(one, actions), block: true, side: 1 }).range(
              doc.line(one.range.start.line + 1).to,
            ),
          );
        return Decoration.set(shown, true);
      }
      return value.map(transaction.changes);
    },
    provide: (field) => EditorView.decorations.from(field),
  });
}

// What the compiler says, and what a run has said.
const wrong = StateEffect.define();
const failed = StateEffect.define();
const messages = [below(wrong), below(failed)];

// A line that is being written has no message until its writer pauses for so long, in milliseconds.
const PAUSE = 600;

// Brackets and quotes that the editor has closed by itself: who types one of these goes over it, also
// over the line ends before it. (The package's own rule knows neither a quote behind a hole nor a
// bracket on another line.)

const PAIRS = ["()", "[]", "{}", '""'];

const passed = StateEffect.define();
const closed = StateField.define({
  create: () => [],
  update(before, transaction) {
    const { changes, state } = transaction;
    const over = transaction.effects.filter((one) => one.is(passed)).map((one) => one.value);
    const places = before
      .map((at) => changes.mapPos(at, 1, MapMode.TrackAfter))
      .filter((at) => at !== null && !over.includes(at));
    const { head } = state.selection.main;
    const lineOf = (at) => state.doc.lineAt(at).number;
    // Whoever goes to another line writes something else.
    const isLeft = !transaction.docChanged && lineOf(transaction.startState.selection.main.head) !== lineOf(head);
    const now = isLeft ? places.filter((at) => lineOf(at) === lineOf(head)) : places;
    if (!transaction.isUserEvent("input.type")) return now;
    changes.iterChanges((from, to, start, end, { length }) => {
      if (length === 2 && PAIRS.includes(state.sliceDoc(start, end)) && head === start + 1) now.push(start + 1);
    });
    return now;
  },
});

// Whether a line's beginning ends within a text in quotes, and not in a hole of one.
function isInText(line) {
  const open = [];
  for (let at = 0; at < line.length; at += 1) {
    const inner = open.at(-1);
    const isText = inner === '"' || inner === 'f"';
    if (isText && line[at] === "\\") at += 1;
    else if (line[at] === '"') isText ? open.pop() : open.push(line[at - 1] === "f" ? 'f"' : '"');
    else if (line[at] === "{" && inner !== '"') open.push("{");
    else if (line[at] === "}" && inner === "{") open.pop();
  }
  return open.at(-1)?.endsWith('"') ?? false;
}

const goesOver = EditorView.inputHandler.of((view, from, to, text) => {
  if (from !== to || text.length !== 1 || view.state.selection.ranges.length > 1) return false;
  const { doc } = view.state;
  const found = view.state
    .field(closed)
    .filter((at) => at >= from && doc.sliceString(at, at + 1) === text && !doc.sliceString(from, at).trim());
  if (!found.length) {
    // What ends a text begins none.
    if (text !== '"' || !isInText(doc.sliceString(doc.lineAt(from).from, from))) return false;
    view.dispatch({
      changes: { from, insert: text },
      selection: { anchor: from + 1 },
      userEvent: "input.type",
      scrollIntoView: true,
    });
    return true;
  }
  const at = Math.min(...found);
  const line = doc.lineAt(from);
  // Of an empty line above the one of the bracket, nothing stays.
  const isEmpty = at > line.to && !doc.sliceString(line.from, from).trim();
  const changes = isEmpty ? { from: line.from, to: doc.lineAt(at).from } : { from, to: at };
  const gone = changes.to - changes.from;
  view.dispatch({
    changes,
    selection: { anchor: at - gone + 1 },
    effects: passed.of(at - gone),
    userEvent: "input.type",
    scrollIntoView: true,
  });
  return true;
});

// Enter ends a line, whatever is proposed; Tab takes the proposal that is chosen, or the first.
function take(view) {
  if (completionStatus(view.state) !== "active") return false;
  if (selectedCompletionIndex(view.state) === null && !moveCompletionSelection(true)(view)) return false;
  return acceptCompletion(view);
}

// A hover is Markdown with doc comments in it, in which any HTML may stand: also what would draw
// something over the page, or lead away from it. Of other elements than these, the words are shown.
const SHOWN =
  "a, blockquote, br, code, del, div, em, h1, h2, h3, h4, h5, h6, hr, li, ol, p, pre, span, strong, " +
  "table, tbody, td, th, thead, tr, ul";

function harmless(html) {
  // In a document of its own nothing is loaded, and nothing runs.
  const { body } = new DOMParser().parseFromString(`<body>${html}`, "text/html");
  for (const node of body.querySelectorAll("*")) {
    if (!node.matches(SHOWN)) {
      node.replaceWith(`<${node.localName}>`, ...node.childNodes);
      continue;
    }
    for (const { name, value } of [...node.attributes]) {
      const isKept = name === "class" || (name === "href" && /^https?:/.test(value));
      if (!isKept) node.removeAttribute(name);
    }
    if (node.hasAttribute("href")) node.setAttribute("target", "_blank");
  }
  return body.innerHTML;
}

const look = [
  syntaxHighlighting(style),
  EditorView.lineWrapping,
  drawSelection(),
  EditorView.theme({
    "&": { height: "100%" },
    ".cm-scroller": { overflow: "auto" },
    ".cm-gutters": { background: "transparent", border: "none", color: "var(--soft)" },
    ".cm-activeLine": { background: "var(--active)" },
    ".cm-cursor": { borderLeftColor: "var(--text)" },
    ".saft-comment": { color: "var(--comment)", fontStyle: "italic" },
    ".saft-keyword": { color: "var(--keyword)" },
    ".saft-string": { color: "var(--string)" },
    ".saft-number": { color: "var(--number)" },
    ".saft-type": { color: "var(--type)" },
    ".saft-function": { color: "var(--function)" },
  }),
];

/// A text that is shown: `kind` is "python" or "text".
export function viewer(parent, kind, label) {
  const view = new EditorView({
    parent,
    extensions: [
      look,
      kind === "python" ? python() : [],
      lineNumbers(),
      marked,
      EditorState.readOnly.of(true),
      keymap.of([...defaultKeymap, ...searchKeymap]),
      EditorView.contentAttributes.of({ "aria-label": label, "aria-readonly": "true", tabindex: "0" }),
    ],
  });
  return {
    get text() {
      return view.state.doc.toString();
    },
    show(text) {
      if (view.state.doc.toString() === text) return;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    },
    mark(lines) {
      if (lines === null) {
        view.dispatch({ effects: mark.of({ first: 1, last: 0 }) });
        return;
      }
      const place = view.state.doc.line(Math.min(lines.first + 1, view.state.doc.lines)).from;
      const effects = [mark.of({ first: lines.first + 1, last: lines.last + 1 })];
      view.dispatch({ effects: [...effects, EditorView.scrollIntoView(place, { y: "nearest" })] });
    },
  };
}

/// The script, and the language server behind `transport`; `told` is called with what is wrong with
/// the script that is shown after each change, `moved` when the cursor is on another line, `explain`
/// with a code that somebody wants explained, and `elsewhere` with a place in another script.
export function editor(parent, { transport, told, changed, moved, explain, elsewhere, keys }) {
  const client = new LSPClient({
    // It is on this machine: one that is slow is busy, and one that has ended closes the connection.
    timeout: 600_000,
    extensions: [
      serverCompletion(),
      hoverTooltips(),
      signatureHelp(),
      serverDiagnostics(),
      { clientCapabilities: COLOURS },
    ],
    sanitizeHTML: harmless,
  });
  let uri = null;
  let line = 0;
  // By their addresses, the scripts that are not shown now, with all that can be undone in them.
  const others = new Map();
  const listener = EditorView.updateListener.of((update) => {
    if (update.docChanged) {
      // With each keystroke.
      edited = Date.now();
      client.sync();
      changed();
      paint();
    }
    const now = update.state.doc.lineAt(update.state.selection.main.head).number - 1;
    if (now !== line || update.docChanged) {
      line = now;
      moved(line);
    }
  });
  // Whether the colours are asked for, and whether the text is another one since.
  let isAsking = false;
  let isOutdated = false;
  async function paint() {
    isOutdated = true;
    if (isAsking) return;
    isAsking = true;
    try {
      while (isOutdated) {
        isOutdated = false;
        await client.initializing;
        const { doc } = view.state;
        const params = { textDocument: { uri } };
        const found = await client.request("textDocument/semanticTokens/full", params);
        const kinds = client.serverCapabilities.semanticTokensProvider.legend.tokenTypes;
        if (view.state.doc !== doc) isOutdated = true;
        else view.dispatch({ effects: colour.of({ kinds, data: found?.data ?? [] }) });
      }
    } catch {
      // The server has ended, or answers no more: the colours stay as they are.
    } finally {
      isAsking = false;
    }
  }
  let edited = 0;
  let timer = null;
  function say(found) {
    clearTimeout(timer);
    const actions = (parent, message) => offer(parent, message, found);
    const left = edited + PAUSE - Date.now();
    const isHeld = left > 0 && view.hasFocus;
    const shown = isHeld ? found.filter(({ range }) => range.start.line !== line) : found;
    view.dispatch({ effects: wrong.of({ found: shown, actions }) });
    if (isHeld) timer = setTimeout(() => view.dispatch({ effects: wrong.of({ found, actions }) }), left);
  }
  // Behind a message, what it is about, and what may be written instead.
  async function offer(parent, { text, code }, found) {
    if (!code) return;
    const button = (words, act, label) => {
      const made = document.createElement("button");
      made.textContent = words;
      if (label) made.setAttribute("aria-label", label);
      made.addEventListener("mousedown", (event) => event.preventDefault());
      made.addEventListener("click", act);
      parent.append(made);
    };
    button(code, () => explain(code), `Explain ${code}`);
    const one = found.find((it) => it.code === code && it.message === text);
    const { doc } = view.state;
    const params = { textDocument: { uri }, range: one.range, context: { diagnostics: [one] } };
    const fixes = (await client.request("textDocument/codeAction", params).catch(() => null)) ?? [];
    for (const { title, edit } of fixes.filter((it) => it.diagnostics?.length)) {
      button(title.replaceAll("`", ""), () => {
        if (view.state.doc !== doc) return;
        const at = ({ line: number, character }) => doc.line(number + 1).from + character;
        const changes = edit.changes[uri].map(({ range, newText }) => ({
          from: at(range.start),
          to: at(range.end),
          insert: newText,
        }));
        view.dispatch({ changes, userEvent: "input" });
        view.focus();
      });
    }
  }
  function jump() {
    const { head } = view.state.selection.main;
    const place = view.state.doc.lineAt(head);
    const position = { line: place.number - 1, character: head - place.from };
    client.request("textDocument/definition", { textDocument: { uri }, position }).then((found) => {
      const there = Array.isArray(found) ? found[0] : found;
      if (!there) return;
      const { start } = there.range;
      if (there.uri === uri) go(start.line + 1, start.character + 1);
      else elsewhere(there.uri, start.line + 1, start.character + 1);
    }, () => {});
    return true;
  }
  function go(number, column) {
    const { from, to } = view.state.doc.line(Math.min(number, view.state.doc.lines));
    view.dispatch({ selection: { anchor: Math.min(from + column - 1, to) }, scrollIntoView: true });
    view.focus();
  }
  function connect(to) {
    client.connect({
      ...to,
      subscribe: (handler) =>
        to.subscribe((message) => {
          handler(message);
          const { method, params } = JSON.parse(message);
          if (method !== "textDocument/publishDiagnostics" || params.uri !== uri) return;
          // One of an older text is followed by that of this one.
          const isNow = params.version == null || params.version === client.workspace.getFile(uri)?.version;
          if (isNow) say(params.diagnostics);
          told(params);
        }),
    });
  }
  function stateOf(address, text) {
    return EditorState.create({
      doc: text,
      extensions: [
        look,
        language,
        coloured,
        messages,
        lineNumbers(),
        lintGutter(),
        history(),
        indentUnit.of("    "),
        indentOnInput(),
        bracketMatching(),
        closed,
        Prec.high(goesOver),
        closeBrackets(),
        autocompletion({ selectOnOpen: false }),
        highlightActiveLine(),
        highlightSelectionMatches(),
        keymap.of([
          ...keys.map(([key, run]) => ({ key, run: () => (run(), true), preventDefault: true })),
          ...formatKeymap,
          ...renameKeymap,
          { key: "F12", run: jump, preventDefault: true },
          ...findReferencesKeymap,
          ...lintKeymap,
          ...searchKeymap,
          ...historyKeymap,
          ...defaultKeymap,
          { key: "Tab", run: take },
          // Escape, then Tab, leaves the editor.
          indentWithTab,
        ]),
        listener,
        client.plugin(address, "saft"),
        EditorView.contentAttributes.of({ "aria-label": "script" }),
      ],
    });
  }
  const view = new EditorView({ parent });
  connect(transport);
  return {
    get text() {
      return view.state.doc.toString();
    },
    get line() {
      return line;
    },
    /// Shows the script at an address: as it was left, or with its text. Its draft can be undone.
    open(address, text, draft = text) {
      if (uri !== null) others.set(uri, view.state);
      uri = address;
      line = 0;
      view.setState(others.get(address) ?? stateOf(address, text));
      if (!others.has(address) && draft !== text) {
        view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: draft } });
      }
      others.delete(address);
      view.dispatch({ effects: failed.of({ found: [] }) });
      paint();
    },
    /// Forgets a script that is not shown.
    forget: (address) => others.delete(address),
    /// Goes to a place, counted from 1.
    go,
    /// Tells below lines, counted from 1, how a run has failed there: pairs of a line and a message.
    fail(all) {
      const found = all.map(([number, message]) => ({ message, severity: 1, range: { start: { line: number - 1 } } }));
      view.dispatch({ effects: failed.of({ found }) });
    },
    reconnect(to) {
      client.disconnect();
      connect(to);
      paint();
    },
    focus: () => view.focus(),
    ask: (method, params) => client.request(method, params),
  };
}
