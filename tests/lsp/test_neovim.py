"""The settings for Neovim, in a Neovim without a screen."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.compiler.support import ROOT

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.one_python,
    pytest.mark.skipif(shutil.which("nvim") is None, reason="needs Neovim (apt install neovim)"),
]

_SCRIPT = "people = 1\nprint(pepole)\nanswer = $ who? $\nprint(answer)\n"

# Does what a user does, and writes down what there is to see.
_STEPS = """
local saft = dofile(vim.env.SETTINGS)
saft.cmd = { vim.env.PYTHON, "-m", "saftc", "lsp" }
local seen = {}
local function wait(what, condition)
  assert(vim.wait(120000, condition, 20), "waited in vain for " .. what)
end
vim.cmd("edit asked.saft")
wait("diagnostics", function() return #vim.diagnostic.get(0) > 0 end)
seen.diagnostics = vim.tbl_map(function(one) return one.message end, vim.diagnostic.get(0))
vim.api.nvim_win_set_cursor(0, { 1, 1 })
local buffer = vim.api.nvim_get_current_buf()
local place = vim.lsp.util.make_position_params(0, "utf-16")
local answers = vim.lsp.buf_request_sync(0, "textDocument/hover", place, 120000)
for _, answer in pairs(answers) do seen.hover = answer.result.contents.value end
vim.api.nvim_buf_set_lines(0, 1, 2, false, { "print(people)" })
wait("no diagnostics", function() return #vim.diagnostic.get(0) == 0 end)
local lens = { command = "saft.show", arguments = { vim.env.VIEW, vim.uri_from_bufnr(0), 0 } }
local client = next(vim.lsp.buf_get_clients(0))
vim.lsp.commands["saft.show"](lens, { client_id = client, bufnr = buffer })
local function python()
  local shown = saft.views[vim.env.VIEW]
  return table.concat(vim.api.nvim_buf_get_lines(shown.buffer, 0, -1, false), "\\n")
end
wait("the Python", function() return python():find("who?", 1, true) end)
vim.api.nvim_buf_set_lines(0, 2, 3, false, { "answer = $ where? $" })
wait("the Python to follow", function() return python():find("where?", 1, true) end)
seen.python = python()
vim.fn.writefile({ vim.json and vim.json.encode(seen) or vim.fn.json_encode(seen) }, "seen.json")
vim.cmd("qa!")
"""


def test_a_session(tmp_path: Path) -> None:
    (tmp_path / "asked.saft").write_text(_SCRIPT)
    (tmp_path / "steps.lua").write_text(_STEPS)
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "PYTHON": sys.executable,
        "SETTINGS": str(ROOT / "editors" / "nvim" / "saft.lua"),
        "VIEW": f"saft-python:{(tmp_path / 'asked.saft').as_uri().partition(':')[2]}.py",
        "XDG_STATE_HOME": str(tmp_path),
    }
    command = ["nvim", "--headless", "-u", "NONE", "-c", "luafile steps.lua"]
    done = subprocess.run(
        [*command, "-c", "cquit"], cwd=tmp_path, env=environment, capture_output=True
    )
    assert (tmp_path / "seen.json").exists(), done.stderr.decode()
    seen = json.loads((tmp_path / "seen.json").read_text())
    assert seen["diagnostics"] == ["unknown name `pepole`\ndid you mean `people`?"]
    assert "people: int" in seen["hover"]
    assert 'prompt("where?")' in seen["python"]
