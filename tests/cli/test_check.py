"""`saftc check`: what is wrong, as text and as JSON."""

import io
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from saftc import _version
from saftc.driver import check
from saftc.reporting import write_diagnostics
from saftc.source import Source
from tests.cli.conftest import Command

pytestmark = pytest.mark.one_python

Script = Callable[[str, str], Path]


def test_nothing_to_report(saftc: Command, script: Script, folder: Path) -> None:
    script("a.saft", "x = 1\n")
    ended = saftc("check", "a.saft")
    assert (ended.code, ended.out) == (0, "")
    assert ended.err == "1 file checked, nothing to report\n"
    assert not (folder / "a.py").exists()


def test_errors(saftc: Command, script: Script) -> None:
    script("a.saft", "print(x)\n")
    ended = saftc("check", "a.saft")
    assert ended.code == 1
    assert ended.out == (
        "error[SAFT0203]: unknown name `x`\n --> a.saft:1:7\n  |\n1 | print(x)\n  |       ^\n"
    )
    assert ended.err == "1 file checked: 1 error\n"


def test_warnings_are_fine(saftc: Command, script: Script) -> None:
    script("a.saft", "if 1:\n    print(1)\n")
    ended = saftc("check", "a.saft")
    assert ended.code == 0
    assert ended.out.startswith("warning[SAFT0601]")
    assert ended.err == "1 file checked: 1 warning\n"


def test_several_files(saftc: Command, script: Script) -> None:
    script("a.saft", "print(x)\nprint(y)\n")
    script("b.saft", "z = 1\n")
    script("c.saft", "print(w)\n")
    ended = saftc("check", "a.saft", "b.saft", "c.saft", "missing.saft")
    assert ended.code == 1
    assert ended.out.count("error[") == 3
    assert "there is no file missing.saft" in ended.err
    assert ended.err.endswith("3 files checked: 4 errors\n")


def test_what_is_missing_is_not_counted(saftc: Command) -> None:
    ended = saftc("check", "nofile.saft")
    assert (ended.code, ended.err) == (1, "saftc: there is no file nofile.saft\n")


@pytest.mark.parametrize("options", [[], ["--format", "json"]])
def test_more_errors_than_are_told(saftc: Command, script: Script, options: list[str]) -> None:
    script("a.saft", "".join(f"print(missing_{n})\n" for n in range(30)))
    ended = saftc("check", "a.saft", *options)
    assert ended.code == 1
    assert "a.saft: only the first 20 are shown; there may be more\n" in ended.err


def test_standard_input(saftc: Command) -> None:
    ended = saftc("check", "-", stdin="print(x)\n")
    assert ended.code == 1
    assert " --> <stdin>:1:7\n" in ended.out


def test_json(saftc: Command, script: Script) -> None:
    script("a.saft", "print(x)\n")
    script("b.saft", "if 1:\n    print(1)\n")
    ended = saftc("check", "a.saft", "b.saft", "--format", "json")
    assert ended.code == 1
    first, second = json.loads(ended.out)
    assert (first["file"], first["code"], first["line"], first["column"]) == (
        "a.saft",
        "SAFT0203",
        1,
        7,
    )
    assert (second["file"], second["severity"]) == ("b.saft", "warning")
    assert ended.err == ""


def test_json_of_nothing(saftc: Command, script: Script) -> None:
    script("a.saft", "x = 1\n")
    ended = saftc("check", "a.saft", "--format", "json")
    assert (ended.code, json.loads(ended.out)) == (0, [])


def test_an_unknown_format(saftc: Command, script: Script) -> None:
    script("a.saft", "x = 1\n")
    ended = saftc("check", "a.saft", "--format", "yaml")
    assert ended.code == 2 and "Traceback" not in ended.err


@pytest.mark.parametrize(
    "data", [b"x = \xff\n", b"x = 1\0\n", b"\xef\xbb\xbfx = y\r\n"], ids=["bytes", "NUL", "BOM"]
)
def test_odd_bytes(saftc: Command, folder: Path, data: bytes) -> None:
    (folder / "a.saft").write_bytes(data)
    ended = saftc("check", "a.saft")
    assert ended.code == 1
    assert " --> a.saft:1:" in ended.out


def test_a_missing_module_names_the_places(saftc: Command, script: Script) -> None:
    script("a.saft", "import nosuchmodule\nprint(nosuchmodule)\n")
    ended = saftc("check", "a.saft")
    assert ended.code == 1
    assert "error[SAFT0501]: there is no module `nosuchmodule`" in ended.out
    assert "looked in " in ended.out


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def at_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing in the environment refuses colours and links."""
    for name in ("NO_COLOR", "FORCE_COLOR", "FORCE_HYPERLINK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


@pytest.mark.usefixtures("at_terminal")
def test_colour_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    checked = check(Source.from_text("a.saft", "print(x)\n"))
    terminal, plain, refused = _Terminal(), io.StringIO(), _Terminal()
    monkeypatch.setenv("FORCE_HYPERLINK", "0")
    write_diagnostics(checked, terminal)
    write_diagnostics(checked, plain)
    monkeypatch.setenv("NO_COLOR", "1")
    write_diagnostics(checked, refused)
    red, blue, bold, end = "\x1b[1;31m", "\x1b[1;34m", "\x1b[1m", "\x1b[0m"
    assert terminal.getvalue() == (
        f"{red}error[SAFT0203]{end}{bold}: unknown name `x`{end}\n"
        f"{blue} -->{end} a.saft:1:7\n"
        f"{blue}  |{end}\n"
        f"{blue}1 |{end} print(x)\n"
        f"{blue}  |{end}       {red}^{end}\n"
    )
    assert plain.getvalue() == refused.getvalue()
    assert "\x1b" not in plain.getvalue()


_LINK = re.compile(r"\x1b\]8;;([^\x1b]+)\x1b\\(.*?)\x1b\]8;;\x1b\\")


def _links(stream: io.StringIO, folder: Path) -> list[tuple[str, str]]:
    checked = check(Source.from_text("a.saft", "print(x)\n"))
    (folder / "a.saft").touch()
    write_diagnostics(checked, stream)
    return [(text, address) for address, text in _LINK.findall(stream.getvalue())]


@pytest.mark.usefixtures("at_terminal")
def test_a_code_and_a_place_can_be_clicked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code, page), (place, file) = _links(_Terminal(), folder)
    assert (code, place) == ("SAFT0203", "a.saft:1:7")
    assert file == f"{(folder / 'a.saft').as_uri()}#1"
    # As long as there is no site, the page is the one that comes with saftc.
    assert Path(page.removeprefix("file://")).read_text().startswith("# SAFT0203")
    monkeypatch.setattr(_version, "SITE_URL", "https://saft.test/docs/")
    (_, page), _ = _links(_Terminal(), folder)
    assert page == "https://saft.test/docs/diagnostics/SAFT0203/"


@pytest.mark.usefixtures("at_terminal")
@pytest.mark.parametrize(
    ("name", "value"),
    [("NO_COLOR", "1"), ("TERM", "dumb"), ("TERM", "linux"), ("FORCE_HYPERLINK", "0")],
)
def test_links_can_be_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert _links(_Terminal(), folder) == []


@pytest.mark.usefixtures("at_terminal")
def test_links_can_be_demanded(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _links(io.StringIO(), folder) == []
    monkeypatch.setenv("FORCE_HYPERLINK", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    assert len(_links(io.StringIO(), folder)) == 2


@pytest.mark.usefixtures("at_terminal")
def test_json_has_no_links(
    saftc: Command, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_HYPERLINK", "1")
    script("a.saft", "print(x)\n")
    assert "\x1b" not in saftc("check", "a.saft", "--format", "json").out


@pytest.mark.parametrize("command", ["check", "build", "fmt", "prompts"])
def test_nothing_that_is_imported_runs(
    saftc: Command, script: Script, folder: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.syspath_prepend(str(folder))
    mark = 'open("MARK", "w").close()\nraise SystemExit(7)\n'
    for name in ("evil/__init__.py", "evil/sub/__init__.py", "evil/sub/deep.py", "evil/space/x.py"):
        script(name, mark)
    names = ["evil", "evil.sub", "evil.sub.deep", "evil.space.x", "os.path", "collections.abc"]
    script("a.saft", "".join(f"import {name}\nprint({name})\n" for name in names))
    ended = saftc(command, "a.saft")
    assert ended.code == 0, ended.err
    assert not (folder / "MARK").exists()


@pytest.mark.parametrize("name", ["evil.nope", "evil.sub.nope", "this.x", "os.nope", "email.nope"])
def test_a_missing_submodule_is_reported(
    saftc: Command, script: Script, folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.syspath_prepend(str(folder))
    script("evil/__init__.py", 'open("MARK", "w").close()\n')
    script("evil/sub.py", "")
    script("a.saft", f"import {name}\nprint({name})\n")
    ended = saftc("check", "a.saft")
    assert ended.code == 1 and "error[SAFT0501]" in ended.out
    assert not (folder / "MARK").exists()


def test_a_strict_check_takes_warnings_for_errors(saftc: Command, script: Script) -> None:
    script("rows.saft", "x = 1\nif x:\n    print(x)\n")
    assert saftc("check", "rows.saft").code == 0
    done = saftc("check", "--strict", "rows.saft")
    assert done.code == 1
    assert "warning[SAFT0601]" in done.out


def test_a_strict_check_tells_what_is_left_to_run_time(saftc: Command, script: Script) -> None:
    script("rows.saft", 'f name_of(row):\n    ret row.name\n\nprint(name_of(parse("1")))\n')
    assert saftc("check", "rows.saft").out == ""
    done = saftc("check", "--strict", "rows.saft")
    assert done.code == 0
    assert "hint[SAFT0617]" in done.out
    assert "add an annotation" in done.out
    found = json.loads(saftc("check", "--strict", "--format", "json", "rows.saft").out)
    assert [(one["severity"], one["line"]) for one in found] == [("hint", 1)]
    assert [one["line"] for one in found[0]["related"]] == [2]


def test_sarif(saftc: Command, script: Script) -> None:
    script("a.saft", "people = 1\nprint(pepole)\nf g():\n    nil\nf g():\n    nil\n")
    ended = saftc("check", "--format", "sarif", "a.saft")
    assert ended.code == 1
    log = json.loads(ended.out)
    (run,) = log["runs"]
    assert log["version"] == "2.1.0"
    assert [one["id"] for one in run["tool"]["driver"]["rules"]] == ["SAFT0201", "SAFT0203"]
    unknown, twice = run["results"]
    assert (unknown["ruleId"], unknown["ruleIndex"], unknown["level"]) == ("SAFT0203", 1, "error")
    assert unknown["message"]["text"] == "unknown name `pepole`: did you mean `people`?"
    place = unknown["locations"][0]["physicalLocation"]
    region = {"startLine": 2, "startColumn": 7, "endLine": 2, "endColumn": 13}
    assert place == {"artifactLocation": {"uri": "a.saft"}, "region": region}
    (change,) = unknown["fixes"][0]["artifactChanges"]
    assert change["replacements"] == [
        {"deletedRegion": region, "insertedContent": {"text": "people"}}
    ]
    assert twice["relatedLocations"][0]["message"]["text"] == "first defined here"


def test_github(saftc: Command, script: Script) -> None:
    script("a,b.saft", "if 1:\n    print(100 % nothing)\n")
    ended = saftc("check", "--format", "github", "a,b.saft")
    assert ended.code == 1
    assert ended.out == (
        "::warning file=a%2Cb.saft,line=1,endLine=1,col=4,endColumn=5,title=SAFT0601"
        "::this condition is always true: only `false` and `nil` are false; this is int\n"
        "::error file=a%2Cb.saft,line=2,endLine=2,col=17,endColumn=24,title=SAFT0203"
        "::unknown name `nothing`\n"
    )


def test_options_that_the_wire_of_the_project_lacks(
    saftc: Command, script: Script, folder: Path
) -> None:
    text = (
        "print($ one $ with {seed: 7, temperature: 0})\n"
        'print($ one $ with {seed: 7, api: "chat"})\n'
        'print($ one $ with {seed: 7, provider: "openrouter"})\n'
        'some = {stop: "x"}\nprint($ one $ with some)\n'
    )
    script("a.saft", text)
    assert saftc("check", "a.saft").code == 0
    (folder / "pyproject.toml").write_text('[tool.saft]\napi = "responses"\n')
    done = saftc("check", "a.saft")
    assert done.code == 1 and done.out.count("error[SAFT0411]") == 2
    assert "a.saft:1:21" in done.out and "a.saft:5:20" in done.out
    (folder / "pyproject.toml").write_text('[tool.saft]\napi = "chat"\n')
    assert saftc("check", "a.saft").code == 0


def test_the_drawing_of_a_place_and_its_fix_is_coloured() -> None:
    text = "f a():\n    ret 1\nf a():\n    ret pepole\npeople = [\n    1,\n] + 1\nx = y y\n"
    out = _Terminal()
    write_diagnostics(check(Source.from_text("a.saft", text)), out)
    written = out.getvalue()
    red, green, blue, end = "\x1b[31m", "\x1b[32m", "\x1b[1;34m", "\x1b[0m"
    assert f"{blue}  |{end}   {blue}- first defined here{end}\n" in written
    assert f"{blue}  {end}{red}-     ret pepole{end}\n" in written
    assert f"{blue}4 {end}{green}+     ret people{end}\n" in written


def test_a_module_that_waits_beside_a_tool(saftc: Command, script: Script) -> None:
    script("lib.saft", "f refund(order: string) -> string: ret order\n")
    script(
        "a.saft",
        "import lib\n\nf close(order: string) -> string: ret lib.refund(order)\n\n"
        "print($ Use {lib:approve} and {close}. $)\n",
    )
    assert "bug in saftc" not in saftc("check", "a.saft").err
