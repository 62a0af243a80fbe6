"""`saftc build plan.json --tools MODULE`: plans to module files."""

import sys
from collections.abc import Sequence
from pathlib import Path

from saftc.commands.build import Builder
from saftc.commands.reporting import complain, write_result
from saftc.plans.compiling import PlanProblem, compile_plan
from saftc.project.files import FileProblem


class PlanBuilder:
    """Writes the modules of plans that call the functions of the module `tools`.

    When that is a script, its module is written beside the plan's. `builder` says how.
    """

    def __init__(self, builder: Builder, tools: str) -> None:
        self.builder = builder
        self.tools = tools

    def build_all(self, targets: Sequence[tuple[str, Path | None]]) -> bool:
        """Compiles plans to their targets, to standard output where that is None.

        Whether all went well.
        """
        for file, target in targets:
            try:
                self._build(file, target)
            except PlanProblem as problem:
                sys.stderr.write(str(problem))
                self.builder.has_failed = True
            except FileProblem as problem:
                complain(str(problem))
                self.builder.has_failed = True
        return not self.builder.has_failed

    def _build(self, file: str, target: Path | None) -> None:
        beside = Path(file).parent
        folders = [beside if target is None else target.parent, beside, Path()]
        plan = compile_plan(file, self.tools, folders)
        if target is None:
            write_result(plan.text)
            return
        self.builder.done[target] = Path(file)
        self.builder.put(file, plan.text, target, "--tools", self.tools)
        scripts = [Path(script.source.name) for script in plan.siblings]
        self.builder.build_all([(str(one), target.with_name(one.stem + ".py")) for one in scripts])
