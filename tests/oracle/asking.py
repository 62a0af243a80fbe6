"""Prompts in the reference interpreter: rendering, tools, typed replies and repairs."""

import json
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass, field
from itertools import count

from saftc.source import Span
from saftc.syntax import nodes as n
from tests.oracle import dates
from tests.oracle import values as v
from tests.oracle.model import (
    FAILED,
    PROGRAM,
    Answer,
    Asked,
    Exhausted,
    Script,
    ToolUse,
    answer,
    decide,
)
from tests.oracle.programs import Mistaken, Programs, Signature
from tests.oracle.schemas import Types
from tests.oracle.values import Callable_, Fault, Frame, Function, Value, Wrong

RETURN = "__saft_return_"
# How often a program that is wrong goes back to the model.
_MOST_ROUNDS = 8


@dataclass(slots=True)
class _Talk:
    """One conversation: what is asked for, and what was said."""

    text: str
    tools: dict[str, Callable_]
    form: str
    returns: tuple[str, ...]
    rounds: int | None
    repairs: int
    before: tuple[str, ...]
    judge: Value = None
    since: list[str] = field(default_factory=list[str])
    turns: int = 0

    def whole(self, *last: str) -> tuple[str, ...]:
        """All that was said, `last` at the end."""
        return (*self.before, f"asked {self.text}", *self.since, *last)


class Asking(ABC):
    """The part of the interpreter that knows prompts."""

    def __init__(self, types: Types, script: Script) -> None:
        self.types = types
        self.script = script
        self.asked: list[Asked] = []
        # The calls that were asked about, with their arguments as JSON.
        self.decisions: list[tuple[str, str]] = []
        # What was said in the prompt that was answered last.
        self.talk = v.Talk()

    @abstractmethod
    def evaluate(self, node: n.Expression, frame: Frame, asked: n.Schema | None = None) -> Value:
        """The value of an expression."""

    @abstractmethod
    def called(
        self, function: Callable_, positional: list[Value], named: v.Bound, span: Span
    ) -> Value:
        """What a call gives."""

    def fitted(
        self, value: Value, schema: n.Schema, span: Span, *, is_order_open: bool = False
    ) -> Value:
        """The value as the schema has it."""
        try:
            return self.types.fitted(value, schema)
        except Wrong as wrong:
            raise Fault("value", span, str(wrong), is_order_open=is_order_open) from None

    def prompted(self, node: n.Prompt, frame: Frame, asked: n.Schema | None) -> Value:
        """The value of a prompt whose place asks for `asked`."""
        value, self.talk = self.stream_of(node, frame, asked).read(node.span)
        return value

    def stream_of(self, node: n.Prompt, frame: Frame, asked: n.Schema | None) -> v.Stream:
        """The same, written with its values, and not asked yet."""
        if node.mode == "program":
            return v.Stream(lambda span: self._programmed(node, frame, asked, span))
        is_text = asked is None or self._is_string(asked)
        form = "" if is_text or asked is None else self.types.notation(asked)
        talk = self._opened(node, frame, form, ())

        def read(text: str) -> Value:
            if is_text or asked is None:
                if not text.strip():
                    raise Wrong("an empty reply")
                return text
            return self.types.decoded(v.parse_json(text, keeps_digits=True), asked)

        def ask(span: Span) -> tuple[Value, v.Talk]:
            while True:
                said = self._reply(talk, span)
                if not isinstance(said, str):
                    self._round(talk, said, span)
                    continue
                try:
                    value = read(said)
                    self._judge(talk, value, span)
                    return value, v.Talk(talk.whole(f"said {said}"), talk.tools)
                except Wrong as wrong:
                    self._ask_again(talk, said, str(wrong), span)

        return v.Stream(ask)

    def destructured(self, node: n.DestructureStmt, prompt: n.Prompt, frame: Frame) -> v.Bound:
        """The values of the fields, which the model hands in by tools."""
        schemas = {one.name.text: one.schema for one in node.fields}
        talk = self._opened(prompt, frame, "", tuple(RETURN + name for name in schemas))
        found: v.Bound = {}
        while len(found) < len(schemas):
            said = self._reply(talk, prompt.span)
            if isinstance(said, str):
                self._ask_again(talk, said, "no call", prompt.span)
                continue
            for use in said:
                name = use.tool.removeprefix(RETURN)
                if use.tool in talk.returns and "value" in use.arguments:
                    found[name] = self.types.decoded(_sent(use)["value"], schemas[name])
            self._round(talk, said, prompt.span)
        self.talk = v.Talk(talk.whole(), talk.tools)
        return {name: found[name] for name in schemas}

    def _programmed(
        self, node: n.Prompt, frame: Frame, asked: n.Schema | None, span: Span
    ) -> tuple[Value, v.Talk]:
        """The value of the first program of the model that fits, and that may be run."""
        talk = self._opened(node, frame, PROGRAM, ())
        wanted = "any" if asked is None else self.types.notation(asked)
        signatures = {name: self._signature(one) for name, one in talk.tools.items()}
        programs = Programs(signatures, lambda name, given: self._made(talk, name, given, span))
        heard = Counter[str]()
        for turn in count():
            said = self._reply(talk, span)
            if not isinstance(said, str):
                raise NotImplementedError("calls of tools where a program is asked for")
            try:
                program = self._allowed(talk, said, programs, wanted)
            except Mistaken as mistake:
                heard[str(mistake)] += 1
                if heard[str(mistake)] > talk.repairs or turn == _MOST_ROUNDS:
                    raise Fault("program", span, str(mistake), failure="program") from None
                talk.since += [f"said {said}", "again"]
                continue
            value = programs.value(program)
            value = value if asked is None else self.fitted(value, asked, span)
            return value, v.Talk(talk.whole(f"said {said}"), talk.tools)
        raise AssertionError("it ends when the replies do")

    def _allowed(self, talk: _Talk, said: str, programs: Programs, wanted: str) -> object:
        """The program that a reply is; Mistaken when it is none, or somebody refuses it."""
        try:
            program = json.loads(said, object_pairs_hook=_each_once)
        except ValueError:
            raise Mistaken(f"no program: {said}") from None
        programs.check(program, wanted)
        if any(v.waits(talk.tools[name]) for name in programs.called(program)):
            whole = {PROGRAM: program}
            self.decisions.append((PROGRAM, v.json_of(whole)))
            if decide(PROGRAM, whole).arguments is None:
                raise Mistaken("refused")
        return program

    def _signature(self, function: Callable_) -> Signature:
        function = v.bare(function)
        if not isinstance(function, Function):
            raise NotImplementedError("a program over what is not a function of the script")
        types = {
            one.name.text: "any" if one.schema is None else self.types.notation(one.schema)
            for one in function.definition.parameters
        }
        returns = function.definition.returns
        result = "any" if returns is None else self.types.notation(returns)
        return Signature(types, types.keys() - function.defaults.keys(), result)

    def _made(self, talk: _Talk, name: str, given: v.Bound, span: Span) -> Value:
        """What a call in a program gives."""
        try:
            return self.called(talk.tools[name], [], given, span)
        except Fault as fault:
            if fault.failure == "provider":
                raise
            raise Fault("program", span, str(fault), failure="program") from None

    # The opening

    def _opened(self, node: n.Prompt, frame: Frame, form: str, returns: tuple[str, ...]) -> _Talk:
        values = [
            self.evaluate(part.value, frame) for part in node.parts if isinstance(part, n.Hole)
        ]
        options = {} if node.options is None else self.evaluate(node.options, frame)
        if not isinstance(options, dict):
            raise Wrong("options are an object")
        text: list[str] = []
        tools: dict[str, Callable_] = {}
        remaining = iter(values)
        numbered = 0
        # Where one hole says that a function waits, it does wherever the text has its name.
        shown = {part: _function_in(part.value) for part in node.parts if isinstance(part, n.Hole)}
        waiting = {
            one.text
            for part, one in shown.items()
            if isinstance(one, n.Name) and (part.is_approved or one is not part.value)
        }
        for part in node.parts:
            if isinstance(part, n.PromptText):
                text.append(part.text)
                continue
            value = next(remaining)
            if isinstance(value, Callable_):
                function = shown[part]
                numbered += not isinstance(function, n.Name)
                name = function.text if isinstance(function, n.Name) else f"tool_{numbered}"
                if part.is_approved or name in waiting:
                    value = v.approve(value)
                if not v.equal(tools.setdefault(name, value), value):
                    raise Wrong(f"two functions as the tool `{name}`")
                text.append(name)
            elif not part.is_raw:
                text.append(v.json_of(value))
            elif isinstance(value, str):
                text.append(value)
            else:
                raise Wrong("`:raw` inserts a string")
        rounds, repairs = 1 if node.mode == "do" else None, options.get("max_repairs", 1)
        before = self._talk_of(node.after, frame)
        listed = [] if node.tools is None else self._listed(node.tools, frame)
        is_closed = isinstance(node.tools, n.ListLiteral) and not node.tools.items
        keeps = isinstance(node.after, n.Name) and not is_closed
        for name, function in (*(before.tools.items() if keeps else ()), *listed):
            if not v.equal(tools.setdefault(name, function), function):
                raise Wrong(f"two functions as the tool `{name}`")
        for name, function in tools.items():
            for other, another in tools.items():
                is_same = v.equal(v.bare(function), v.bare(another))
                if is_same and v.waits(function) and not v.waits(another):
                    raise Wrong(f"`{other}` is `{name}`, which waits for approval")
        judge = options.get("check")
        return _Talk("".join(text), tools, form, returns, rounds, repairs, before.lines, judge)

    def _judge(self, talk: _Talk, value: Value, span: Span) -> None:
        """Wrong where the check of the prompt fails with a reason."""
        if isinstance(talk.judge, Callable_):
            try:
                self.called(talk.judge, [value], {}, span)
            except Fault as fault:
                if fault.kind not in ("assert", "fail"):
                    raise
                raise Wrong(str(fault)) from None

    def _listed(self, node: n.Expression, frame: Frame) -> list[tuple[str, Callable_]]:
        """The tools of a list in place: each has the name that stands there."""
        if not isinstance(node, n.ListLiteral):
            raise NotImplementedError("tools that are not listed in place")
        found: list[tuple[str, Callable_]] = []
        for item in node.items:
            function = None if isinstance(item, n.Spread) else self.evaluate(item, frame)
            name = None if isinstance(item, n.Spread) else _function_in(item)
            if not isinstance(name, n.Name) or not isinstance(function, Callable_):
                raise NotImplementedError("tools that are not names of functions")
            found.append((name.text, function))
        return found

    def _talk_of(self, node: n.Expression | None, frame: Frame) -> v.Talk:
        """What was said in the conversation that a prompt comes after."""
        match node:
            case None:
                return v.Talk()
            case n.Prompt():
                self.evaluate(node, frame)
                return self.talk
            case _:
                value = self.evaluate(node, frame)
                said = self.said_in(node, frame)
                if said is None and not isinstance(value, list):
                    raise NotImplementedError("after a value")
                return v.Talk(tuple(map(_line_of, value))) if said is None else said

    def said_in(self, node: n.Expression, frame: Frame) -> v.Talk | None:
        """What was said in the prompt that a name is bound to."""
        owner = frame.find(node.text) if isinstance(node, n.Name) else None
        return None if owner is None else owner.talks.get(node.text)

    def _is_string(self, schema: n.Schema) -> bool:
        resolved = self.types.resolved(schema)
        return isinstance(resolved, n.NamedSchema) and resolved.text == "string"

    # The exchange

    def _reply(self, talk: _Talk, span: Span) -> Answer:
        offered = tuple(sorted((*talk.tools, *talk.returns)))
        self.asked.append(Asked(talk.text, talk.form, offered, tuple(talk.since), talk.before))
        try:
            said = answer(self.script, talk.text, talk.turns)
        except Exhausted as error:
            raise Fault("prompt", span, f"no reply: {error}", failure="provider") from None
        talk.turns += 1
        return said

    def _ask_again(self, talk: _Talk, said: str, reason: str, span: Span) -> None:
        if not talk.repairs:
            raise Fault("prompt", span, reason, failure="contract")
        talk.repairs -= 1
        talk.since += [f"said {said}", "again"]

    def _round(self, talk: _Talk, uses: tuple[ToolUse, ...], span: Span) -> None:
        is_ordinary = any(use.tool not in talk.returns for use in uses)
        if is_ordinary and talk.rounds == 0:
            raise Fault("prompt", span, "the round is over", failure="tool_limit")
        if is_ordinary and talk.rounds is not None:
            talk.rounds -= 1
        talk.since.append("calls " + " ".join(use.tool for use in uses))
        for use in uses:
            talk.since.append(self._result(talk, use, span))

    def _result(self, talk: _Talk, use: ToolUse, span: Span) -> str:
        if use.tool in talk.returns:
            return "result kept"
        try:
            function = talk.tools.get(use.tool)
            if function is None:
                raise Wrong(f"no tool `{use.tool}`")
            said = ""
            if v.waits(function):
                # Arguments that do not fit are told to the model, and nobody is asked about them.
                self._arguments(function, use)
                self.decisions.append((use.tool, v.json_of(use.arguments)))
                decided = decide(use.tool, use.arguments)
                if decided.arguments is None:
                    return FAILED
                use = ToolUse(use.tool, decided.arguments)
                if decided.is_changed:
                    written = v.json_of(dict(use.arguments))
                    said = f"(approved with other arguments: {written})\n"
            given = self._arguments(function, use)
            value = self.called(function, [], given, span)
            is_plain = isinstance(value, str) or dates.is_date(value)
            return f"result {said}" + (v.text_of(value) if is_plain else v.json_of(value))
        except (Fault, Wrong):
            return FAILED

    def _arguments(self, function: Callable_, use: ToolUse) -> v.Bound:
        """The arguments as the parameters' schemas have them; a number may be sent as text."""
        function = v.bare(function)
        if not isinstance(function, Function):
            return v.without_digits(_sent(use))
        schemas = {one.name.text: one.schema for one in function.definition.parameters}
        read: v.Bound = {}
        for name, value in _sent(use).items():
            schema = schemas.get(name)
            resolved = None if schema is None else self.types.resolved(schema)
            if schema is None:
                read[name] = v.without_digits(value)
            elif isinstance(value, str) and _asks_for_number(resolved):
                read[name] = self.types.decoded(v.parse_json(value), schema)
            else:
                read[name] = self.types.decoded(value, schema)
        return read


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """The object of JSON with these keys."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("two keys are the same")
    return dict(pairs)


def _sent(use: ToolUse) -> v.Bound:
    """The arguments as they come out of JSON."""
    return v.parse_json(json.dumps(use.arguments), keeps_digits=True)


def messages_of(talk: v.Talk) -> list[Value]:
    """A conversation as data, as far as scripts look at it: the ids and arguments of calls, and the
    words of failures, are the runtime's own.
    """
    return list(map(_message_of, talk.lines))


def _message_of(line: str) -> Value:
    if line == FAILED:
        return {"role": "tool", "content": "error: "}
    word, _, text = line.partition(" ")
    if word == "calls":
        calls = [{"function": {"name": name}} for name in text.split(" ")]
        return {"role": "assistant", "content": None, "tool_calls": calls}
    role = {"asked": "user", "again": "user", "said": "assistant", "result": "tool"}[word]
    return {"role": role, "content": text}


def _line_of(message: Value) -> str:
    if "tool_calls" in message:
        return "calls " + " ".join(call["function"]["name"] for call in message["tool_calls"])
    content = message["content"]
    if message["role"] == "tool":
        return FAILED if content == "error: " else f"result {content}"
    if message["role"] == "user":
        return f"asked {content}" if content else "again"
    return f"said {content}"


def _function_in(node: n.Expression) -> n.Expression:
    """What is offered, where it is said that its calls wait for approval."""
    match node:
        case n.Call(function=n.Name(text="approve"), arguments=(argument,)):
            return argument.value
        case _:
            return node


def _asks_for_number(schema: object) -> bool:
    return isinstance(schema, n.NamedSchema) and schema.text in ("int", "float", "bool")
