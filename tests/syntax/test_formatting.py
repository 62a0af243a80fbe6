"""Formatting changes nothing but layout: over every script, however it is laid out."""

import ast
import io
import tokenize
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from saftc.cli import app as cli
from saftc.formatter.formatter import format_source
from saftc.source import Source
from tests.compiler.support import compile_text, without_black
from tests.oracle.generate import Generated
from tests.oracle.generate import scripts as generated_scripts
from tests.syntax.support import documented, formatted, parsed, scripts, shape, thrown_about

pytestmark = pytest.mark.one_python


def _text(path: Path) -> str:
    return Source.from_bytes("in.saft", path.read_bytes()).text


READABLE = [text for path in scripts() if parsed(text := _text(path)) is not None]


def _comments(text: str) -> list[str]:
    """The comments of a Python module, in an order that says nothing of their places."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sorted(token.string for token in tokens if token.type == tokenize.COMMENT)


def _holds(text: str) -> str:
    """Checks everything that formatting promises of one script; gives what was written."""
    module = parsed(text)
    assert module is not None
    written = formatted(text)
    again = parsed(written)
    assert again is not None
    assert shape(again) == shape(module)
    assert sorted(c.text.lstrip("/") for c in again.comments) == sorted(
        c.text.lstrip("/") for c in module.comments
    )
    assert formatted(written) == written
    assert all(line == line.rstrip() for line in written.split("\n") if "//" in line)
    docs = documented(module)
    # A comment at the end of two fields' line documents both, and can stand at one of them.
    if len({doc for _, doc in docs}) == len(docs):
        assert documented(again) == docs
    return written


def test_there_are_scripts() -> None:
    assert len(READABLE) > 300


@pytest.mark.parametrize("text", READABLE, ids=range(len(READABLE)))
def test_every_script(text: str) -> None:
    written = _holds(text)
    if written == text:
        return
    with without_black():
        before, after = compile_text(text).text, compile_text(written).text
    assert (before is None) == (after is None)
    if before is not None and after is not None:
        assert ast.dump(ast.parse(before)) == ast.dump(ast.parse(after))
        assert _comments(before) == _comments(after)


@pytest.mark.heavy
@settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(st.sampled_from(READABLE), st.integers(0, 2**32))
def test_every_script_thrown_about(text: str, seed: int) -> None:
    other = thrown_about(text, Random(seed))
    first, second = parsed(text), parsed(other)
    assert first is not None and second is not None
    assert shape(first) == shape(second)
    _holds(other)


# A long script is not made small: that would take minutes.
@pytest.mark.heavy
@settings(
    max_examples=30,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(generated_scripts(), st.integers(0, 2**32))
def test_generated_scripts(generated: Generated, seed: int) -> None:
    written = _holds(generated.text)
    _holds(thrown_about(generated.text, Random(seed)))
    with without_black():
        before, after = compile_text(generated.text).text, compile_text(written).text
    assert (before is None) == (after is None)
    if before is not None and after is not None:
        assert ast.dump(ast.parse(before)) == ast.dump(ast.parse(after))


@settings(max_examples=300, deadline=None, derandomize=True)
@example('x = """\n  \n """')
@given(
    st.text(st.sampled_from(' \t\n"\\ax{'), max_size=30).filter(
        lambda text: '"""' not in text and not text.endswith(('"', "\\"))
    )
)
def test_block_strings_keep_their_value(inside: str) -> None:
    text = f'if true:\n  x = """{inside}"""\n'
    if parsed(text) is not None:
        _holds(text)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.text(st.sampled_from(" \t\n$\\{}a1/é\u00a0"), max_size=30))
def test_prompts_keep_their_text(inside: str) -> None:
    text = f"if true:\n  x = ${inside}$\n"
    if parsed(text) is not None:
        _holds(text)


@pytest.mark.parametrize("depth", [19, 60, 99])
def test_deep_nesting(depth: int) -> None:
    _holds(f"x = {'[' * depth}1{']' * depth}\n")
    _holds(f"x = {'-(' * depth}1{')' * depth}\n")
    _holds("x = " + " + ".join(["1"] * depth) + "\n")


def test_a_script_that_cannot_be_read_is_left_alone() -> None:
    result = format_source(Source.from_text("in.saft", "x = [1\n"))
    assert result.text is None
    assert [found.code for found in result.diagnostics] == ["SAFT0109"]


def test_what_is_wrong_but_readable_is_formatted() -> None:
    assert formatted("x=unknown\n") == "x = unknown\n"


# The command


def _run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["saftc", *arguments])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert isinstance(caught.value.code, int)
    return caught.value.code


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = Path("a.saft")
    path.write_bytes(b"x=1 // one\n")
    return path


def test_command_formats_in_place(
    script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(monkeypatch, "fmt", "a.saft") == 0
    assert script.read_bytes() == b"x = 1  // one\n"
    assert capsys.readouterr() == ("", "a.saft formatted\n")
    assert _run(monkeypatch, "fmt", "a.saft") == 0
    assert capsys.readouterr() == ("", "")
    assert [path.name for path in Path().iterdir()] == ["a.saft"]


def test_command_keeps_line_ends(script: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script.write_bytes(b"x=1\r\ny=2\r\n")
    assert _run(monkeypatch, "fmt", "a.saft") == 0
    assert script.read_bytes() == b"x = 1\r\ny = 2\r\n"
    assert _run(monkeypatch, "fmt", "--check", "a.saft") == 0


def test_command_formats_what_a_link_points_to(
    script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = Path("link.saft")
    link.symlink_to(script)
    assert _run(monkeypatch, "fmt", "link.saft") == 0
    assert link.is_symlink()
    assert script.read_bytes() == b"x = 1  // one\n"


def test_command_check_and_diff_write_nothing(
    script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(monkeypatch, "fmt", "--check", "a.saft") == 1
    assert capsys.readouterr() == ("", "a.saft is not formatted: run `saftc fmt a.saft`\n")
    assert _run(monkeypatch, "fmt", "--diff", "a.saft") == 0
    out = capsys.readouterr().out
    assert "-x=1 // one\n+x = 1  // one\n" in out
    assert script.read_bytes() == b"x=1 // one\n"


def test_command_leaves_what_it_cannot_read(
    script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script.write_bytes(b"x=[1\n")
    Path("b.saft").write_bytes(b"y=1\n")
    assert _run(monkeypatch, "fmt", "a.saft", "missing.saft", "b.saft") == 1
    assert script.read_bytes() == b"x=[1\n"
    assert Path("b.saft").read_bytes() == b"y = 1\n"
    errors = capsys.readouterr().err
    assert "error[SAFT0109]" in errors
    assert "there is no file missing.saft" in errors


def test_command_reads_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("x='é'".encode()), "utf-8"))
    assert _run(monkeypatch, "fmt", "-") == 1
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO('x="é"'.encode()), "utf-8"))
    capsys.readouterr()
    assert _run(monkeypatch, "fmt", "-") == 0
    assert capsys.readouterr().out == 'x = "é"\n'


def test_a_long_chain_of_conditionals_is_no_nest() -> None:
    chain = " else ".join(f"{n} if x == {n}" for n in range(150))
    text = f"x = 1\ny = {chain} else 0\n"
    formatted = format_source(Source.from_text("long.saft", text)).text
    assert formatted is not None and formatted.count("\n") > 150
    assert format_source(Source.from_text("long.saft", formatted)).text == formatted
