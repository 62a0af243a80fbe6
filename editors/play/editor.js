// The editor of `saftc play`: CodeMirror, the grammar of the other editors, and a client of the
// language server. `npm run build` bundles it into saftc/play/editor.js.

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
  StreamLanguage,
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
  jumpToDefinitionKeymap,
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

import grammar from "../saft.tmLanguage.json";

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

// What the names of a TextMate grammar begin with, and the name that CodeMirror has for it.
const NAMES = [
  ["comment", "comment"],
  ["constant.character", "number"],
  ["constant", "atom"],
  ["entity.name.function", "function"],
  ["support.function", "function"],
  ["entity.name.type", "typeName"],
  ["support.type", "typeName"],
  ["keyword.operator", "punctuation"],
  ["keyword", "keyword"],
  ["storage", "keyword"],
  ["punctuation.definition.prompt", "keyword"],
  ["punctuation.section.interpolation", "keyword"],
  ["punctuation.definition.string", "string"],
  ["string", "string"],
];

function nameOf(scope) {
  const found = NAMES.find(([start]) => scope === start || scope?.startsWith(`${start}.`));
  return found === undefined ? null : found[1];
}

// A TextMate grammar, read as CodeMirror reads a text: piece by piece, from the left. A rule that
// begins and ends is open on a stack; of the rules inside it, the one that matches first counts.

const expressions = new Map();

function match(source, text, from) {
  if (!expressions.has(source)) expressions.set(source, new RegExp(source, "g"));
  const expression = expressions.get(source);
  expression.lastIndex = from;
  return expression.exec(text);
}

function* rulesOf(patterns) {
  for (const one of patterns ?? []) {
    if (one.include === "$self") yield* rulesOf(grammar.patterns);
    else if (one.include) yield* rulesOf([grammar.repository[one.include.slice(1)]]);
    else if (one.match || one.begin) yield one;
    else yield* rulesOf(one.patterns);
  }
}

// The pieces of a match: each character is that of the last capture that holds it.
function piecesOf(found, captures, base) {
  const pieces = [];
  let at = found.index;
  const add = (end, name) => {
    if (end > at) pieces.push([end, name]);
    at = Math.max(at, end);
  };
  for (const [number, { name }] of Object.entries(captures ?? {})) {
    const text = found[number];
    if (!text) continue;
    const start = number === "0" ? found.index : found[0].indexOf(text, at - found.index) + found.index;
    add(start, base);
    add(start + text.length, nameOf(name) ?? base);
  }
  add(found.index + found[0].length, base);
  return pieces;
}

function next(text, from, state) {
  const open = state.open[state.open.length - 1];
  const inside = open === undefined ? null : nameOf(open.name);
  const ending = open === undefined ? null : match(open.end, text, from);
  let best = null;
  for (const rule of rulesOf(open === undefined ? grammar.patterns : open.patterns)) {
    const found = match(rule.match ?? rule.begin, text, from);
    // What begins nothing and is nothing would be found for ever.
    const isSomething = found !== null && (found[0] !== "" || rule.begin);
    if (isSomething && (best === null || found.index < best.found.index)) best = { rule, found };
    if (best?.found.index === from) break;
  }
  if (ending !== null && (best === null || ending.index <= best.found.index)) {
    state.open.pop();
    const start = ending.index > from ? [[ending.index, inside]] : [];
    return [...start, ...piecesOf(ending, open.endCaptures ?? open.captures, inside)];
  }
  if (best === null) return [[text.length, inside]];
  const { rule, found } = best;
  const start = found.index > from ? [[found.index, inside]] : [];
  if (rule.begin) state.open.push(rule);
  const base = nameOf(rule.name) ?? inside;
  return [...start, ...piecesOf(found, rule.captures ?? rule.beginCaptures, base)];
}

const saft = StreamLanguage.define({
  name: "saft",
  startState: () => ({ open: [], pieces: [] }),
  copyState: (state) => ({ open: [...state.open], pieces: [...state.pieces] }),
  token(stream, state) {
    for (let round = 0; !state.pieces.length && round < 20; round += 1) {
      state.pieces = next(stream.string, stream.pos, state).filter(([end]) => end > stream.pos);
    }
    const [end, name] = state.pieces.shift() ?? [stream.pos + 1, null];
    stream.pos = Math.min(end, stream.string.length);
    if (stream.eol()) {
      state.pieces = [];
      // What ends with the line ends here, when nothing more is read of it.
      while (state.open.length && ends(stream.string, state.open[state.open.length - 1])) {
        state.open.pop();
      }
    }
    return name;
  },
  blankLine(state) {
    while (state.open.length && ends("", state.open[state.open.length - 1])) state.open.pop();
  },
  tokenTable: { function: tags.function(tags.variableName) },
  languageData: {
    commentTokens: { line: "//" },
    closeBrackets: { brackets: ["(", "[", "{", '"'], stringPrefixes: ["f"] },
  },
});

function ends(text, rule) {
  const found = match(rule.end, text, text.length);
  return found !== null && found[0] === "";
}

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
  constructor(text, isError) {
    super();
    this.text = text;
    this.isError = isError;
  }
  eq(other) {
    return other.text === this.text && other.isError === this.isError;
  }
  toDOM() {
    const made = document.createElement("div");
    made.className = `message ${this.isError ? "error" : "warning"}`;
    made.textContent = this.text;
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
        const found = effect.value
          .filter(({ severity, range }) => severity <= 2 && range.start.line < doc.lines)
          .map(({ message, severity, range }) =>
            Decoration.widget({ widget: new Message(message, severity === 1), block: true, side: 1 }).range(
              doc.line(range.start.line + 1).to,
            ),
          );
        return Decoration.set(found, true);
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
/// the script that is shown after each change, `moved` when the cursor is on another line.
export function editor(parent, { transport, told, changed, moved, keys }) {
  const client = new LSPClient({
    // It is on this machine: one that is slow is busy, and one that has ended closes the connection.
    timeout: 600_000,
    extensions: [serverCompletion(), hoverTooltips(), signatureHelp(), serverDiagnostics()],
    highlightLanguage: (name) => (name === "saft" ? saft : null),
    sanitizeHTML: harmless,
  });
  let uri = null;
  let line = 0;
  // By their addresses, the scripts that are not shown now, with all that can be undone in them.
  const others = new Map();
  const listener = EditorView.updateListener.of((update) => {
    if (update.docChanged) {
      // With each keystroke.
      client.sync();
      changed();
    }
    const now = update.state.doc.lineAt(update.state.selection.main.head).number - 1;
    if (now !== line || update.docChanged) {
      line = now;
      moved(line);
    }
  });
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
          if (isNow) view.dispatch({ effects: wrong.of(params.diagnostics) });
          told(params);
        }),
    });
  }
  function stateOf(address, text) {
    return EditorState.create({
      doc: text,
      extensions: [
        look,
        saft,
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
          ...jumpToDefinitionKeymap,
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
      view.dispatch({ effects: failed.of([]) });
    },
    /// Forgets a script that is not shown.
    forget: (address) => others.delete(address),
    /// Goes to a place, counted from 1.
    go(number, column) {
      const { from, to } = view.state.doc.line(Math.min(number, view.state.doc.lines));
      view.dispatch({ selection: { anchor: Math.min(from + column - 1, to) }, scrollIntoView: true });
      view.focus();
    },
    /// Tells below a line, counted from 1, how a run has failed there; without one, nowhere.
    fail(number, message) {
      const range = { start: { line: number - 1 } };
      view.dispatch({ effects: failed.of(number ? [{ message, severity: 1, range }] : []) });
    },
    reconnect(to) {
      client.disconnect();
      connect(to);
    },
    focus: () => view.focus(),
    ask: (method, params) => client.request(method, params),
  };
}
