"""`saftc build`: which files it writes, and which it leaves alone."""

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Command

Script = Callable[[str, str], Path]

_HEADER = "# Compiled by saftc from {}; edit that file instead.\n"


def _module(name: str, code: str) -> str:
    return _HEADER.format(name) + "\n" + code


def test_writes_beside_the_script(saftc: Command, script: Script, folder: Path) -> None:
    script("a.saft", "x = 1\n")
    ended = saftc("build", "a.saft")
    assert (ended.code, ended.out, ended.err) == (0, "", "a.saft -> a.py\n")
    assert (folder / "a.py").read_text() == _module("a.saft", "x = 1\n")


def test_writes_where_o_says(saftc: Command, script: Script, folder: Path) -> None:
    script("a.saft", "x = 1\n")
    assert saftc("build", "a.saft", "-o", "other.py").code == 0
    assert (folder / "other.py").read_text() == _module("a.saft", "x = 1\n")
    assert not (folder / "a.py").exists()


def test_writes_to_standard_output(saftc: Command, script: Script, folder: Path) -> None:
    script("a.saft", "x = 1\n")
    ended = saftc("build", "a.saft", "-o", "-")
    assert (ended.code, ended.out) == (0, _module("a.saft", "x = 1\n"))
    assert not (folder / "a.py").exists()


def test_writes_several_into_a_folder(saftc: Command, script: Script, folder: Path) -> None:
    script("a.saft", "x = 1\n")
    script("inner/b.saft", "y = 2\n")
    ended = saftc("build", "a.saft", "inner/b.saft", "--out-dir", "new/out")
    assert ended.code == 0
    assert (folder / "new/out/a.py").read_text() == _module("a.saft", "x = 1\n")
    assert (folder / "new/out/b.py").read_text() == _module("b.saft", "y = 2\n")


def test_the_header_names_no_folder(saftc: Command, script: Script, folder: Path) -> None:
    script("inner/b.saft", "y = 2\n")
    saftc("build", "inner/b.saft")
    saftc("build", str(folder / "inner/b.saft"), "-o", "c.py")
    text = (folder / "inner/b.py").read_text()
    assert text == (folder / "c.py").read_text() == _module("b.saft", "y = 2\n")


def test_reads_standard_input(saftc: Command, folder: Path) -> None:
    ended = saftc("build", "-", stdin="x = 1\n")
    assert ended.code == 0
    assert ended.out.endswith("; edit that file instead.\n\nx = 1\n")
    assert saftc("build", "-", "-o", "a.py", stdin="x = 1\n").code == 0
    assert (folder / "a.py").read_text() == ended.out


def test_says_when_nothing_changes(saftc: Command, script: Script, folder: Path) -> None:
    script("a.saft", "x = 1\n")
    saftc("build", "a.saft")
    before = (folder / "a.py").stat().st_mtime_ns
    ended = saftc("build", "a.saft")
    assert (ended.code, ended.err) == (0, "a.py is up to date\n")
    assert (folder / "a.py").stat().st_mtime_ns == before


def test_writes_nothing_for_a_script_with_errors(
    saftc: Command, script: Script, folder: Path
) -> None:
    script("a.saft", "x: int = true\n")
    script("b.saft", "y = 2\n")
    ended = saftc("build", "a.saft", "b.saft")
    assert ended.code == 1
    assert ended.err.startswith("error[SAFT0301]: expected int, found bool\n --> a.saft:1:10\n")
    assert not (folder / "a.py").exists()
    assert (folder / "b.py").exists()


def test_warnings_do_not_keep_from_writing(saftc: Command, script: Script, folder: Path) -> None:
    script("a.saft", 'if "x":\n    print(1)\n')
    ended = saftc("build", "a.saft")
    assert ended.code == 0 and "warning[SAFT0601]" in ended.err
    assert (folder / "a.py").exists()


# What may not be overwritten


def test_refuses_a_file_it_did_not_write(saftc: Command, script: Script, folder: Path) -> None:
    script("a.saft", "x = 1\n")
    script("a.py", "print('mine')\n")
    ended = saftc("build", "a.saft")
    assert ended.code == 1
    assert ended.err == "saftc: a.py was not written by saftc; --force overwrites it\n"
    assert (folder / "a.py").read_text() == "print('mine')\n"


def test_force_overwrites(saftc: Command, script: Script, folder: Path) -> None:
    script("a.saft", "x = 1\n")
    script("a.py", "print('mine')\n")
    assert saftc("build", "a.saft", "--force").code == 0
    assert (folder / "a.py").read_text() == _module("a.saft", "x = 1\n")


def test_overwrites_what_it_wrote(saftc: Command, script: Script, folder: Path) -> None:
    script("a.saft", "x = 1\n")
    saftc("build", "a.saft")
    script("a.saft", "x = 2\n")
    assert saftc("build", "a.saft").code == 0
    assert (folder / "a.py").read_text() == _module("a.saft", "x = 2\n")


def test_never_overwrites_the_script(saftc: Command, script: Script, folder: Path) -> None:
    script("a.saft", "x = 1\n")
    for arguments in (["a.saft", "-o", "a.saft"], ["a.saft", "-o", "./a.saft", "--force"]):
        ended = saftc("build", *arguments)
        assert ended.code == 1 and "is the script itself" in ended.err
    assert (folder / "a.saft").read_text() == "x = 1\n"


@pytest.mark.parametrize("command", ["build", "check", "check --fix", "fmt"])
def test_a_file_that_is_no_script(
    saftc: Command, script: Script, folder: Path, command: str
) -> None:
    script("a.html", "<!doctype html>\n")
    ended = saftc(*command.split(), "a.html")
    assert ended.code == 1 and ended.out == ""
    assert "a.html is not a script: names of scripts end with .saft" in ended.err
    assert (folder / "a.html").read_text() == "<!doctype html>\n"


@pytest.mark.parametrize("arguments", [["--out-dir", "out"], ["--out-dir", "out", "--force"]])
def test_two_scripts_do_not_become_one_module(
    saftc: Command, script: Script, folder: Path, arguments: list[str]
) -> None:
    script("one/a.saft", "x = 1\n")
    script("two/a.saft", "x = 2\n")
    ended = saftc("build", "one/a.saft", "two/a.saft", *arguments)
    assert ended.code == 1
    assert ended.err == "saftc: one/a.saft and two/a.saft would both become out/a.py\n"
    assert not (folder / "out").exists()


def test_o_takes_one_script(saftc: Command, script: Script) -> None:
    script("a.saft", "x = 1\n")
    script("b.saft", "x = 1\n")
    assert saftc("build", "a.saft", "b.saft", "-o", "c.py").code == 2
    assert saftc("build", "a.saft", "-o", "c.py", "--out-dir", "out").code == 2


# Comparing


def test_check_of_what_is_up_to_date(saftc: Command, script: Script) -> None:
    script("a.saft", "x = 1\n")
    saftc("build", "a.saft")
    ended = saftc("build", "a.saft", "--check")
    assert (ended.code, ended.out, ended.err) == (0, "", "")


def test_check_of_what_is_stale_or_missing(saftc: Command, script: Script, folder: Path) -> None:
    script("a.saft", "x = 1\n")
    ended = saftc("build", "a.saft", "--check")
    assert ended.code == 1
    assert ended.err == "a.py is out of date: run `saftc build a.saft`\n"
    assert not (folder / "a.py").exists()
    saftc("build", "a.saft")
    script("a.saft", "x = 2\n")
    assert saftc("build", "a.saft", "--check").code == 1
    assert "x = 1" in (folder / "a.py").read_text()


def test_diff_shows_and_writes_nothing(saftc: Command, script: Script, folder: Path) -> None:
    script("a.saft", "x = 1\ny = 3\n")
    saftc("build", "a.saft")
    script("a.saft", "x = 2\ny = 3\n")
    ended = saftc("build", "a.saft", "--diff")
    assert ended.code == 0
    assert "-x = 1\n+x = 2\n y = 3\n" in ended.out
    assert "x = 1" in (folder / "a.py").read_text()


def test_diff_with_check(saftc: Command, script: Script) -> None:
    script("a.saft", "x = 1\n")
    ended = saftc("build", "a.saft", "--diff", "--check")
    assert ended.code == 1
    assert "+x = 1\n" in ended.out
    saftc("build", "a.saft")
    ended = saftc("build", "a.saft", "--diff", "--check")
    assert (ended.code, ended.out) == (0, "")


# Siblings and source maps


def test_a_sibling_is_written_with_it(saftc: Command, script: Script, folder: Path) -> None:
    script("a.saft", "from b import x\nprint(x + 1)\n")
    script("b.saft", "x = 1\n")
    ended = saftc("build", "a.saft", "--out-dir", "out")
    assert ended.code == 0
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["a.py", "b.py"]
    assert "from b import x\n" in (folder / "out/a.py").read_text()


def test_a_sibling_named_as_well_is_written_once(saftc: Command, script: Script) -> None:
    script("a.saft", "from b import x\nprint(x + 1)\n")
    script("b.saft", "x = 1\n")
    ended = saftc("build", "a.saft", "b.saft")
    assert ended.code == 0
    assert ended.err.count("b.py") == 1


def test_a_sibling_with_errors(saftc: Command, script: Script, folder: Path) -> None:
    script("a.saft", "from b import x\nprint(x)\n")
    script("b.saft", "x = = 1\n")
    ended = saftc("build", "a.saft")
    assert ended.code == 1
    assert "error[SAFT0502]: `b.saft` has errors" in ended.err
    assert not list(folder.glob("*.py"))


def test_scripts_that_import_each_other(saftc: Command, script: Script) -> None:
    script("a.saft", "from b import x\ny = x\n")
    script("b.saft", "from c import y\nx = y\n")
    script("c.saft", "from b import x\ny = x\n")
    words = "these scripts import each other: "
    assert words + "c -> b -> c" in saftc("check", "c.saft").out
    assert words + "b -> c -> b" in saftc("check", "b.saft").out
    both = saftc("check", "b.saft", "c.saft").out
    assert both.count(words) == 2 and "has errors" not in both
    assert "`b.saft` has errors" in saftc("check", "a.saft").out
    script("d.saft", "from d import x\ny = x\n")
    ended = saftc("check", "d.saft")
    assert "these scripts import each other: d -> d" in ended.out
    assert "rename the script if you mean another module `d`" in ended.out


def test_source_map(saftc: Command, script: Script, folder: Path) -> None:
    script("a.saft", "x = 1\nprint($ how many are {x}? $)\n")
    assert saftc("build", "a.saft", "--source-map").code == 0
    assert (folder / "a.py.map").exists()
    assert saftc("build", "a.saft", "-o", "plain.py").code == 0
    assert (folder / "a.py").read_bytes() == (folder / "plain.py").read_bytes()
    assert not (folder / "plain.py.map").exists()


def test_an_old_source_map_does_not_stay(saftc: Command, script: Script, folder: Path) -> None:
    script("a.saft", "x = 1\nprint(x)\n")
    saftc("build", "a.saft", "--source-map")
    assert saftc("build", "a.saft").err == "a.py is up to date\n"
    assert (folder / "a.py.map").exists()
    script("a.saft", "// more\nx = 1\nprint(x)\n")
    ended = saftc("build", "a.saft")
    assert ended.err == (
        "a.saft -> a.py\na.py.map removed: it belonged to an older a.py\n"
    )
    assert not (folder / "a.py.map").exists()
    for text in ("{}", "not JSON", '{"version": 3, "mappings": ""}', "[]"):
        script("a.py.map", text)
        assert saftc("build", "a.saft").err == "a.py is up to date\n"
        assert (folder / "a.py.map").read_text() == text


# Files that cannot be read or written


@pytest.mark.skipif(os.name != "posix", reason="devices are files elsewhere")
def test_a_device_stays_one(saftc: Command, script: Script) -> None:
    script("a.saft", "x = 1\n")
    assert saftc("build", "a.saft", "-o", "/dev/null").code == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_missing_script(saftc: Command) -> None:
    ended = saftc("build", "missing.saft")
    assert (ended.code, ended.err) == (1, "saftc: there is no file missing.saft\n")


def test_a_missing_script_beside_a_good_one(saftc: Command, script: Script, folder: Path) -> None:
    script("a.saft", "x = 1\n")
    ended = saftc("build", "missing.saft", "a.saft")
    assert ended.code == 1
    assert (folder / "a.py").exists()


def test_a_folder_as_a_script(saftc: Command, folder: Path) -> None:
    (folder / "dir.saft").mkdir()
    ended = saftc("build", "dir.saft")
    assert ended.code == 1
    assert ended.err == "saftc: there are no scripts in dir.saft\n"


def test_a_folder_as_a_target(saftc: Command, script: Script, folder: Path) -> None:
    script("a.saft", "x = 1\n")
    (folder / "a.py").mkdir()
    ended = saftc("build", "a.saft")
    assert (ended.code, ended.err) == (1, "saftc: a.py is a folder; name the module in it\n")


def test_a_file_as_the_out_dir(saftc: Command, script: Script) -> None:
    script("a.saft", "x = 1\n")
    script("out", "a file\n")
    ended = saftc("build", "a.saft", "--out-dir", "out")
    assert (ended.code, ended.err) == (1, "saftc: cannot make the folder out: File exists\n")


def test_only_an_out_dir_is_made_when_missing(saftc: Command, script: Script, folder: Path) -> None:
    script("a.saft", "x = 1\n")
    ended = saftc("build", "a.saft", "-o", "no/a.py")
    assert (ended.code, ended.err) == (
        1,
        "saftc: cannot write no/a.py: No such file or directory\n",
    )
    assert saftc("build", "a.saft", "--out-dir", "no", "--check").code == 1
    assert not (folder / "no").exists()
    assert saftc("build", "a.saft", "--out-dir", "such/deep").code == 0
    assert (folder / "such/deep/a.py").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_an_unwritable_folder(saftc: Command, script: Script, folder: Path) -> None:
    script("a.saft", "x = 1\n")
    (folder / "out").mkdir()
    (folder / "out").chmod(0o500)
    ended = saftc("build", "a.saft", "--out-dir", "out")
    assert ended.code == 1 and ended.err.startswith("saftc: cannot write out/a.py")


def test_a_folder_that_refuses_files(
    saftc: Command, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_where: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    script("a.saft", "x = 1\n")
    monkeypatch.setattr("tempfile.mkstemp", refuse)
    ended = saftc("build", "a.saft")
    assert (ended.code, ended.err) == (1, "saftc: cannot write a.py: Permission denied\n")


@pytest.mark.parametrize("failing", ["os.replace", "os.fdopen", "os.chmod"])
def test_a_failing_write_leaves_the_old_file(
    saftc: Command, script: Script, folder: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def fail(*_arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    script("a.saft", "x = 1\n")
    saftc("build", "a.saft")
    before = (folder / "a.py").read_bytes()
    script("a.saft", "x = 2\n")
    with monkeypatch.context() as patch:
        patch.setattr(failing, fail)
        ended = saftc("build", "a.saft")
    assert ended.code == 1
    assert ended.err == "saftc: cannot write a.py: No space left on device\n"
    assert (folder / "a.py").read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == ["a.py", "a.saft"]


def test_permissions_stay(saftc: Command, script: Script, folder: Path) -> None:
    script("a.saft", "x = 1\n")
    saftc("build", "a.saft")
    (folder / "a.py").chmod(0o750)
    script("a.saft", "x = 2\n")
    saftc("build", "a.saft")
    assert stat.S_IMODE((folder / "a.py").stat().st_mode) == 0o750


def test_a_link_to_the_module_stays_a_link(saftc: Command, script: Script, folder: Path) -> None:
    script("a.saft", "x = 1\n")
    saftc("build", "a.saft")
    (folder / "real").mkdir()
    (folder / "a.py").rename(folder / "real/a.py")
    (folder / "a.py").symlink_to("real/a.py")
    script("a.saft", "x = 2\n")
    assert saftc("build", "a.saft").code == 0
    assert (folder / "a.py").is_symlink()
    assert (folder / "real/a.py").read_text() == _module("a.saft", "x = 2\n")


SHIPPED = """\
[tool.saft]
system = "Be brief."
budget_requests = 4
pure = ["a.*"]
"""


def test_settings_that_modules_take_with_them(saftc: Command, script: Script, folder: Path) -> None:
    script("a.saft", "print($ hi $)\n")
    script("b.saft", "print(1)\n")
    script("pyproject.toml", SHIPPED)
    assert saftc("build", "a.saft", "b.saft", "--embed-settings").code == 0
    assert '\ndefaults(system="Be brief.")\n' in (folder / "a.py").read_text()
    assert "defaults" not in (folder / "b.py").read_text()
    assert saftc("build", "a.saft", "--embed-settings", "--check").code == 0
    script("pyproject.toml", '[tool.saft]\nsistem = "Be brief."\n')
    ended = saftc("build", "a.saft", "--embed-settings")
    assert ended.code == 2 and "did you mean `system`?" in ended.err


def test_modules_keep_the_settings_that_they_have(
    saftc: Command, script: Script, folder: Path
) -> None:
    script("a.saft", "print($ hi $)\n")
    script("b.saft", "print(1)\n")
    script("pyproject.toml", SHIPPED)
    assert saftc("build", "a.saft", "b.saft", "--embed-settings").code == 0
    assert saftc("build", "a.saft", "b.saft", "--check").code == 0
    script("pyproject.toml", SHIPPED.replace("brief", "kind"))
    ended = saftc("build", "a.saft", "--check")
    assert (ended.code, ended.err) == (1, "a.py is out of date: run `saftc build a.saft`\n")
    assert saftc("build", "a.saft").code == 0
    assert '\ndefaults(system="Be kind.")\n' in (folder / "a.py").read_text()
    ended = saftc("build", "a.saft", "--no-embed-settings", "--check")
    told = "a.py is out of date: run `saftc build --no-embed-settings a.saft`\n"
    assert (ended.code, ended.err) == (1, told)
    assert saftc("build", "a.saft", "--no-embed-settings").code == 0
    assert "defaults" not in (folder / "a.py").read_text()
    script("c.saft", "print($ hi $)\n")
    assert saftc("build", "c.saft", "--embed-settings").code == 0
    ended = saftc("build", "a.saft", "c.saft", "--check")
    told = "c.py embeds the project's settings, and a.py does not: use --embed-settings or"
    assert ended.code == 2 and told in ended.err
