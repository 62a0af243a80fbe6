"""`saftc check --fix`: what is fixed, what is not, and that nothing is lost."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from saftc.cli import fixing
from saftc.project.files import read_script
from tests.cli.conftest import Command

pytestmark = pytest.mark.one_python

Script = Callable[[str, str], Path]


@pytest.mark.parametrize(
    ("written", "fixed"),
    [
        ("people = 1\nprint(pepole)\n", "people = 1\nprint(people)\n"),
        (
            "people = 1\nif people = 1:\n    print(2)\n",
            "people = 1\nif people == 1:\n    print(2)\n",
        ),
        ("let x = true && false\nprint(x)\n", "x = true and false\nprint(x)\n"),
        ("print(length([0x10]))\n", "print(len([16]))\n"),
        ("from math import floor, ceil\nprint(1)\n", "print(1)\n"),
        (
            "from math import floor, ceil\nprint(ceil(1.5))\n",
            "from math import ceil\nprint(ceil(1.5))\n",
        ),
        # What hides behind a mistake comes to light when that is fixed.
        ("people = 1\nprint(pepole) && x\n", "people = 1\nprint(people) and x\n"),
        ("age: itn = 3\nprint(age)\n", None),
        # A name that is only nearly the same, one of several, or another number is a guess.
        ("amount = 1\nprint(count)\n", None),
        ("people1 = 1\nprint(people2)\n", None),
        ("person = 1\npersons = 2\nprint(personz)\n", None),
        ('name = "Ann"\nprint("hello {name}")\n', None),
        # Nobody knows yet whether it is used.
        ("from math import ceil\nprint(ceil(1.5) + nowhere)\n", None),
    ],
)
def test_what_is_fixed(saftc: Command, script: Script, written: str, fixed: str | None) -> None:
    path = script("a.saft", written)
    shown = saftc("check", "--diff", "a.saft")
    assert path.read_text() == written
    ended = saftc("check", "--fix", "a.saft")
    assert path.read_text() == (fixed or written)
    assert ("fixed" in ended.err, bool(shown.out)) == ((fixed is not None,) * 2)


def test_it_says_what_it_did_and_what_is_left(saftc: Command, script: Script) -> None:
    script("a.saft", "people = 1\nprint(pepole, nowhere)\n")
    ended = saftc("check", "--fix", "a.saft")
    assert ended.code == 1 and "unknown name `nowhere`" in ended.out
    assert ended.err == "a.saft: 1 mistake fixed\n1 file checked: 1 error\n"
    script("a.saft", "people = 1\nprint(pepole)\n")
    ended = saftc("check", "a.saft")
    assert ended.err == "1 file checked: 1 error\n`saftc check --fix` can fix 1 of these\n"
    assert saftc("check", "--fix", "a.saft").code == 0


def test_the_difference_is_one_that_can_be_applied(saftc: Command, script: Script) -> None:
    script("a.saft", "people = 1\nprint(pepole)\n")
    shown = saftc("check", "--diff", "a.saft")
    assert shown.code == 1 and shown.err == "1 file checked: 1 error\n"
    assert shown.out == (
        "--- a.saft (on disk)\n+++ a.saft (fixed)\n@@ -1,2 +1,2 @@\n people = 1\n"
        "-print(pepole)\n+print(people)\n"
    )
    given = saftc("check", "--diff", "-", stdin="people = 1\nprint(pepole)\n")
    assert "+print(people)\n" in given.out and given.code == 1


def test_a_script_sees_its_siblings_fixed(saftc: Command, script: Script) -> None:
    one = script("a.saft", "from b import total\nprint(totla)\n")
    other = script("b.saft", "let total = 1\n")
    assert saftc("check", "--fix", ".").code == 0
    assert one.read_text().endswith("print(total)\n") and other.read_text() == "total = 1\n"


def test_ends_of_lines_and_links_stay(saftc: Command, script: Script, folder: Path) -> None:
    text = b"\xef\xbb\xbfpeople = 1\r\nother = 2\nprint(other,\r\n    pepole && true)\r\n"
    (folder / "real.saft").write_bytes(text)
    (folder / "a.saft").symlink_to("real.saft")
    assert saftc("check", "--fix", "a.saft").code == 0
    fixed = text.replace(b"pepole && true", b"people and true")
    assert (folder / "real.saft").read_bytes() == fixed and (folder / "a.saft").is_symlink()


def test_what_has_changed_meanwhile_is_left(
    saftc: Command, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = script("a.saft", "people = 1\nprint(pepole)\n")
    reads: list[str] = []

    def read(file: str) -> bytes:
        reads.append(file)
        if len(reads) == 2:
            path.write_text("people = 3\nprint(pepole)\n")
        return read_script(file)

    monkeypatch.setattr(fixing, "read_script", read)
    ended = saftc("check", "--fix", "a.saft")
    assert ended.code == 1
    assert "saftc: a.saft has changed meanwhile: nothing is fixed in it\n" in ended.err
    assert path.read_text() == "people = 3\nprint(pepole)\n"


def test_what_cannot_be_written_is_whole(saftc: Command, script: Script, folder: Path) -> None:
    path = script("a.saft", "people = 1\nprint(pepole)\n")
    (folder / "b.saft").write_bytes(b"people = 1\nprint(pepole, '\xff')\n")
    before = (folder / "b.saft").read_bytes()
    assert saftc("check", "--fix", "b.saft", "gone.saft").code == 1
    assert (folder / "b.saft").read_bytes() == before
    if os.geteuid():
        folder.chmod(0o500)
        ended = saftc("check", "--fix", "a.saft")
        folder.chmod(0o700)
        assert "cannot write" in ended.err and "pepole" in path.read_text()


@pytest.mark.parametrize("words", [["--fix", "-"], ["--diff", "--format", "json", "a.saft"]])
def test_what_does_not_go_together(saftc: Command, script: Script, words: list[str]) -> None:
    script("a.saft", "x = 1\n")
    assert saftc("check", *words).code == 2
