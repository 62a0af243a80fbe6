"""The syntax for Vim, as Neovim reads it: which group each part of a script is in."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.one_python,
    pytest.mark.skipif(shutil.which("nvim") is None, reason="there is no Neovim"),
]

VIM = Path(__file__).parents[2] / "editors" / "vim"
SCRIPT = '''\
/// Doc
f greet(name: string) -> string:
    ret f"hi {name} {{x}}" // said
type City(name: string)
who = $ Who of {names} costs \\$5, {sorted(names)[0]}? $ with {model: "m"}
text = """two
lines"""
n = 1_000.5 if true and not nil else 2
due: date = today()
f pay(total: decimal, at: [datetime]) -> time?:
    ret time("09:30")
'''
GROUPS = {
    ("/// Doc", 0): "saftDoc",
    ("f greet", 0): "saftDefinition",
    ("greet", 0): "saftFunction",
    ("string", 0): "saftType",
    ("ret", 0): "saftStatement",
    ("hi ", 0): "saftFormatted",
    ("name}", 0): "saftHole",
    ("{{x", 0): "saftBraces",
    ("// said", 0): "saftComment",
    ("type", 0): "saftDefinition",
    ("City", 0): "saftTypeName",
    ("Who", 0): "saftPrompt",
    ("names}", 0): "saftHole",
    ("\\$5", 0): "saftEscape",
    ("with", 0): "saftStatement",
    ('"m"', 1): "saftString",
    ("lines", 0): "saftString",
    ("1_000", 0): "saftNumber",
    ("true", 0): "saftBoolean",
    ("and", 0): "saftOperator",
    ("nil", 0): "saftConstant",
    ("date =", 0): "saftType",
    ("decimal", 0): "saftType",
    ("datetime]", 0): "saftType",
    ("time?", 0): "saftType",
    ("time(", 0): "",
}


def test_each_part_is_in_its_group(tmp_path: Path) -> None:
    script = tmp_path / "a.saft"
    script.write_text(SCRIPT, encoding="utf-8")
    places = list[list[int]]()
    for part, shift in GROUPS:
        before = SCRIPT[: SCRIPT.index(part) + shift]
        places.append([before.count("\n") + 1, len(before) - before.rfind("\n")])
    ask = f"map({json.dumps(places)}, 'synIDattr(synID(v:val[0], v:val[1], 1), \"name\")')"
    done = subprocess.run(
        [
            *("nvim", "--headless", "-u", "NONE", "-c", f"set runtimepath^={VIM}"),
            *("-c", "filetype plugin on", "-c", "syntax on", "-c", f"edit {script}"),
            *("-c", f"call writefile([json_encode({ask}), &commentstring], 'out.txt')"),
            *("-c", "qa!"),
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    found, comments = (tmp_path / "out.txt").read_text(encoding="utf-8").splitlines()
    assert json.loads(found) == list(GROUPS.values()), done.stderr
    assert comments == "// %s"
