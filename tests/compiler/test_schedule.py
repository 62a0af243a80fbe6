"""Which prompts could be asked at the same time as others, and which line is why not."""

import pytest

from saftc.schedule.plan import plan
from saftc.schedule.telling import told
from saftc.syntax import nodes as n
from saftc.syntax.walk import walk
from tests.compiler.support import compile_text

pytestmark = pytest.mark.one_python

# Each prompt below carries a line of its own: what is told of it, and of which line.
FUNCTIONS = """
f triage(mail: string) -> string:
    ret $ Triage {mail} $
f last() -> string:
    ret $ Which one? {latest} $
f noisy(mail: string) -> string:
    print(mail)
    ret $ Hear {mail} $
f strict(mail: string) -> string:
    assert mail != ""
    ret mail
mails = ["a", "b"]
latest = "x"
found: [string] = []
"""
AHEAD = "for the next items of the loop"
SEVERAL = "for several items at once"
BESIDE = "with those that stand beside it"

CASES = {
    "a comprehension": ("all = [triage(mail) for mail in mails]", SEVERAL),
    "a condition": ('all = [$ {mail} $ for mail in mails if mail != "x"]', SEVERAL),
    "the condition asks": (
        "all = [mail for mail in mails if $ {mail}? $ == mail]",
        "the condition asks",
    ),
    "two clauses": (
        "all = [$ {a} {b} $ for a in mails for b in mails]",
        "it has several `for`s",
    ),
    "a loop": ("for mail in mails:\n    print($ {mail} $)", AHEAD),
    "prints and files": (
        "for mail in mails:\n    text = read_text(mail)\n    print(text)\n    found = found + "
        "[$ {text} $]\n    write_text(mail, text)",
        AHEAD,
    ),
    "a stream for each item": (
        "for mail in mails:\n    print(stream $ {mail} $)",
        "what `stream` asks for is there piece by piece, in its turn",
    ),
    "the pieces of a stream": (
        "for piece in stream $ all $:\n    print($ {piece} $)",
        "what `stream` asks for is there piece by piece, in its turn",
    ),
    "a value of the item before": (
        'story = ""\nfor mail in mails:\n    story = $ {mail} {story} $\nprint(story)',
        "it needs `story` of the item before",
    ),
    "a name that a function reads": (
        "for mail in mails:\n    latest = mail\n    print(last())",
        "it needs `latest` of the item before",
    ),
    "a list that is read": (
        "for mail in mails:\n    found = found + [$ {mail} {found} $]",
        "it needs `found` of the item before",
    ),
    "assert": (
        'for mail in mails:\n    verdict = $ {mail} $\n    assert verdict != ""',
        "`assert` may stop the script",
    ),
    "assert in a function": (
        "for mail in mails:\n    print($ {strict(mail)} $)",
        "`assert` may stop the script",
    ),
    "break": (
        'for mail in mails:\n    if $ {mail} $ == "":\n        break',
        "`break` may end the loop",
    ),
    "ret": (
        "f first() -> string:\n    for mail in mails:\n        verdict = $ {mail} $\n        "
        'if verdict != "":\n            ret verdict\n    ret ""\nprint(first())',
        "`ret` may end the loop",
    ),
    "an index": (
        "for mail in mails:\n    print($ {mails[1]} $)",
        "`mails` may not have such an item",
    ),
    "a division": (
        "for mail in mails:\n    print($ {1 / len(mail)} $)",
        "it may be a division by zero",
    ),
    "a conversion": ("for mail in mails:\n    print($ {int(mail)} $)", "`int` may fail"),
    "while": (
        "for mail in mails:\n    while $ go on? $ == mail:\n        print(mail)",
        "`while` may go on for ever",
    ),
    "a file that is written above": (
        "for mail in mails:\n    write_text(mail, mail)\n    print($ {mail} $)",
        "`write_text` has to wait for what stands before it",
    ),
    "the user is asked": (
        "for mail in mails:\n    answer = input(mail)\n    print($ {answer} $)",
        "`input` waits for the user",
    ),
    "imported Python": (
        "from random import choice\nfor mail in mails:\n    print($ {choice([mail])} $)",
        "what `choice` gives is of unknown type, and might be a function for the model",
    ),
    "what is not known": (
        "f go(mails):\n    for mail in mails:\n        print($ {mail.name} $)\ngo([])",
        "`mail.name` is of unknown type, and might be a function for the model",
    ),
    "a value of unknown type": (
        "f go(most):\n    for mail in mails:\n        print($ {mail} $, upper(most))\ngo(nil)",
        "`most` is of unknown type: it may be nothing for `upper`",
    ),
    "a condition that prints": (
        "all = [$ {mail} $ for mail in mails if print(mail)]",
        "the condition prints",
    ),
    "a tool that prints": ("all = [$ {mail} {noisy} $ for mail in mails]", SEVERAL),
    "continue before the rest": (
        'for mail in mails:\n    if mail == "x":\n        continue\n    verdict = $ {mail} $\n'
        "    write_text(mail, verdict)",
        "`continue` skips what has to stay in order",
    ),
    "a value on some paths": (
        'verdict = ""\nfor mail in mails:\n    if mail == "x":\n        verdict = $ {mail} $\n'
        "    found = found + [mail]\nprint(verdict)",
        "`verdict` is assigned on some paths only",
    ),
    "a formatted string": ('for mail in mails:\n    print($ {f"{mail}: {len(mail):,}"} $)', AHEAD),
    "a format that not all numbers take": (
        'for mail in mails:\n    print($ {f"{len(mail):.1f}"} $)',
        "what `len` gives may not take the format `.1f`",
    ),
    "what fails is caught": (
        "for mail in mails:\n    n = 0\n    try:\n        n = int($ {mail} $)\n    except:\n"
        "        n = 1\n    print(n)",
        AHEAD,
    ),
    "what does not end is not caught": (
        "for mail in mails:\n    try:\n        while $ {mail} $ == mail:\n            print(mail)\n"
        "    except:\n        print(mail)",
        "`while` may go on for ever",
    ),
    "fail": (
        'for mail in mails:\n    if $ {mail} $ == "":\n        fail "empty"',
        "`fail` may stop the script",
    ),
    "a failure around a loop": (
        "try:\n    for mail in mails:\n        print($ {mail} $)\nexcept error:\n    print(error)",
        AHEAD,
    ),
    "what is read after a failure": (
        'had = ""\ntry:\n    for mail in mails:\n        had = $ {mail} $\nexcept:\n    print(had)',
        "`had` may be read when a prompt has failed",
    ),
    "spreads": ("for mail in mails:\n    found = [...found, mail, $ {mail} $]", AHEAD),
    "unpacking": ('for mail in mails:\n    a, b = (mail, "x")\n    print($ {a} {b} $)', AHEAD),
    "unpacking what may be too short": (
        "for mail in mails:\n    a, b = mails\n    print($ {a} {b} $)",
        "`mails` may have more parts, or fewer",
    ),
    "a computed key": (
        "for mail in mails:\n    row = {[mail]: 1}\n    print($ {row} $)",
        AHEAD,
    ),
    "going on with a conversation": (
        "for mail in mails:\n    one = $ {mail} $\n    print($ And? $ after one)",
        AHEAD,
    ),
    "side by side and read after a failure": (
        'one = ""\ntry:\n    one = $ a $\n    two = $ b $\n    print(two)\nexcept:\n    print(one)',
        None,
    ),
    "side by side": ("one = $ {latest} $\ntwo = triage(latest)\nprint(one, two)", BESIDE),
    "a value that a function may not have": (
        'f maybe(mail: string) -> string:\n    if mail == "x":\n        late = mail\n'
        "    ret $ Hear {mail} {late} $\nall = [maybe(mail) for mail in mails]",
        "`late` may have no value",
    ),
    "one needs the other": ("one = $ {latest} $\ntwo = $ {one} $\nprint(one, two)", None),
    "a print between": ("one = $ {latest} $\nprint(one)\ntwo = $ {latest} $\nprint(two)", None),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_told(name: str) -> None:
    text, expected = CASES[name]
    compiled = compile_text(FUNCTIONS + text + "\n")
    errors = [one for one in compiled.checked.diagnostics if one.severity == "error"]
    assert not errors
    facts = compiled.checked.facts
    found = told(plan(facts))
    prompts = [node for node in walk(facts.module) if isinstance(node, n.Prompt)]
    # Those of the functions are told of where they are called.
    words = {found[prompt].words for prompt in prompts if prompt in found}
    assert words == ({expected} if expected is not None else set())


def test_the_line_is_the_one_that_prevents_it() -> None:
    compiled = compile_text(FUNCTIONS + CASES["assert in a function"][0] + "\n")
    (one,) = told(plan(compiled.checked.facts)).values()
    source = compiled.checked.source
    assert source.at(one.place.span) == 'assert mail != ""'
    assert not one.may_overlap


def test_a_loop_without_prompts_is_not_looked_at() -> None:
    compiled = compile_text("for x in [1]:\n    print(x)\n")
    assert plan(compiled.checked.facts).notes == []
