"""Each code has a page: its wrong script gets that diagnostic and no other, its right one none.

`pytest tests/docs --update-cases` rewrites the diagnostics and the index.
"""

from pathlib import Path

import pytest

from saftc.cli import app as cli
from saftc.diagnostics import explanations as explaining
from saftc.diagnostics.catalogue import BY_NUMBER
from tests.docs.pages import INDEX, checked, codes, index_text, read_page

pytestmark = pytest.mark.one_python


@pytest.mark.parametrize("code", codes())
def test_page(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, updates_cases: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    page = read_page(code)
    found, text = checked(page, page.wrong.encode(page.encoding))
    if updates_cases:
        path = explaining.PAGES / f"{code}.md"
        content = path.read_text(encoding="utf-8")
        path.write_text(content.replace(page.diagnostic, text), encoding="utf-8")
        page = read_page(code)
    assert [diagnostic.code for diagnostic in found.diagnostics] == [code]
    assert found.diagnostics[0].severity == BY_NUMBER[code].severity
    assert text == page.diagnostic
    _, text = checked(page, page.right.encode())
    assert text == ""


@pytest.mark.parametrize("code", codes())
def test_page_has_its_parts(code: str) -> None:
    page = read_page(code)
    assert page.title.startswith(f"# {code}: ")
    assert page.text.endswith(".")
    assert len(page.text) < 600
    assert page.wrong and page.right and page.diagnostic


def test_no_page_is_without_a_code() -> None:
    assert sorted(path.stem for path in explaining.PAGES.iterdir()) == codes()


def test_titles_differ() -> None:
    titles = [explaining.title(code) for code in BY_NUMBER.values()]
    assert len(set(titles)) == len(titles)


def test_index(updates_cases: bool) -> None:
    if updates_cases:
        INDEX.parent.mkdir(parents=True, exist_ok=True)
        INDEX.write_text(index_text(), encoding="utf-8")
    assert INDEX.read_text(encoding="utf-8") == index_text()


# The command


def _run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr("sys.argv", ["saftc", "explain", *arguments])
    with pytest.raises(SystemExit) as caught:
        cli.main()
    assert isinstance(caught.value.code, int)
    return caught.value.code


@pytest.mark.parametrize("code", ["SAFT0203", "saft0203", "0203", "203"])
def test_command_shows_a_page(
    code: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(monkeypatch, code) == 0
    out = capsys.readouterr().out
    assert out.startswith("# SAFT0203: an unknown name\n")
    assert "did you mean `people`?" in out


def test_command_lists_the_codes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(monkeypatch) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == codes()
    assert "SAFT0203  error    an unknown name" in lines
    assert max(map(len, lines)) <= 100


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("SAFT0299", "there is no code SAFT0299; the nearest is SAFT0301, a value of another type"),
        ("pepole", "`pepole` is not a code such as SAFT0203; `saftc explain` lists them"),
    ],
)
def test_command_names_the_nearest_code(
    code: str, problem: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(monkeypatch, code) == 2
    assert problem in capsys.readouterr().err
