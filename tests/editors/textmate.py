"""A reader of TextMate grammars: a script to the scopes of each character.

It knows what the grammar uses: `match`, `begin`/`end`, captures, `include` of the repository. Each
line is read from left to right; among the rules that may stand there, the one that matches first
wins, then the end of the open rule, then the order in the grammar. So editors do it.
"""

import json
import re
from pathlib import Path

PATH = Path(__file__).parents[2] / "editors" / "saft.tmLanguage.json"
GRAMMAR = json.loads(PATH.read_text("utf-8"))
REPOSITORY = GRAMMAR["repository"]


def rules(rule=GRAMMAR):
    """All rules of the grammar, the repository's included."""
    yield rule
    for child in (*rule.get("patterns", ()), *rule.get("repository", {}).values()):
        yield from rules(child)


def scopes_of(text):
    """The scopes of each character of `text`, the innermost last."""
    open_rules = [(GRAMMAR, None)]
    scopes = []
    for line in text.splitlines(keepends=True):
        body = line.removesuffix("\n")
        found = [()] * len(line)
        _read_line(body, open_rules, found)
        scopes.extend(found)
    return scopes


def _read_line(line, open_rules, found):
    position = 0
    while True:
        rule, end = open_rules[-1]
        around = tuple(rule["name"] for rule, _ in open_rules[1:] if "name" in rule)
        match, taken = _first(line, position, rule, end)
        stop = len(line) if match is None else match.start()
        found[position:stop] = [around] * (stop - position)
        if match is None:
            return
        position = match.end()
        if taken is None:
            _mark(found, match, around, rule.get("endCaptures"))
            open_rules.pop()
        elif "begin" in taken:
            inner = (*around, taken["name"]) if "name" in taken else around
            _mark(found, match, inner, taken.get("beginCaptures"))
            open_rules.append((taken, _compiled(taken["end"])))
            assert match.end() > match.start(), taken
        else:
            inner = (*around, taken["name"]) if "name" in taken else around
            _mark(found, match, inner, taken.get("captures"))
            assert match.end() > match.start(), taken


def _first(line, position, rule, end):
    """The match that stands first, and its rule: None for the end of the open one."""
    best = (end.search(line, position), None) if end else (None, None)
    for candidate in _candidates(rule["patterns"]):
        match = _compiled(candidate.get("match") or candidate["begin"]).search(line, position)
        if match and (best[0] is None or match.start() < best[0].start()):
            best = (match, candidate)
    return best


def _candidates(patterns):
    for pattern in patterns:
        if "include" in pattern:
            pattern = REPOSITORY[pattern["include"].removeprefix("#")]
        if "match" in pattern or "begin" in pattern:
            yield pattern
        else:
            yield from _candidates(pattern["patterns"])


def _mark(found, match, around, captures):
    found[match.start() : match.end()] = [around] * (match.end() - match.start())
    for group, capture in (captures or {}).items():
        start, stop = match.span(int(group))
        found[start:stop] = [(*found[at], capture["name"]) for at in range(start, stop)]


def _compiled(pattern):
    return re.compile(pattern)
