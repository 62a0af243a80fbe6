"""`saftc prompts`: shows the request of each prompt in a script."""

import sys
from pathlib import Path

from saftc.driver import compile_checked
from saftc.overlap.settings import Overlapping
from saftc.previews.declarations import imported_beside
from saftc.previews.python_objects import PythonObjects
from saftc.previews.rendering import as_json as rendered_as_json
from saftc.previews.rendering import as_sent, as_text
from saftc.previews.requests import has_token_budget, preview, previewed_calls
from saftc.project.finder import Roots
from saftc.project.scripts import Scripts
from saftc.reporting import show_info, write_diagnostics, write_result


def show_prompts(
    file: str,
    *,
    as_json: bool,
    imports: bool,
    on_wire: bool,
    overlapping: Overlapping,
    root: Path | None = None,
) -> int:
    """Writes the requests that a script will send. Returns the exit code.

    With `on_wire`, they are in the server's format. With `imports`, the code of imported Python
    modules runs. Otherwise, the modules are only read.
    """
    scripts = Scripts(roots=Roots(root))
    checked = scripts.check(file)
    write_diagnostics(checked, sys.stderr)
    if checked.has_errors:
        return 1
    modules = scripts.of(file)
    find = imported_beside(modules.folder) if imports else PythonObjects(modules.library)
    compiled = compile_checked(checked, overlapping)
    previews = preview(compiled, find, on_wire=on_wire)
    if not on_wire:
        previews += previewed_calls(compiled)
    if not previews:
        show_info(f"{file} has no prompts")
    if as_json:
        write_result(rendered_as_json(previews))
    else:
        sys.stdout.write(as_sent(previews) if on_wire else as_text(previews))
    if on_wire and previews and has_token_budget():
        show_info("a budget of tokens or cost may add a limit of the reply, which is not shown")
    return 1 if any(one.error for one in previews) else 0
