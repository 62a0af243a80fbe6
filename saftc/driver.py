"""Checks and compiles source text, without reading files or writing output.

`check` finds the mistakes in a script. `compile_source` also writes the Python module.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from saftc.check.facts import Facts
from saftc.check.imports import Loader, no_modules
from saftc.check.servers import with_tools
from saftc.diagnostics import catalogue
from saftc.diagnostics.model import LIMIT, Collector, Diagnostic
from saftc.effects.effects import check_judges, check_rules
from saftc.infer.analysis import analyze
from saftc.overlap.settings import DEFAULT, Overlapping
from saftc.source import Source
from saftc.syntax.depth import fitting_interpreter
from saftc.syntax.lexer import Lexed
from saftc.syntax.nodes import Module
from saftc.syntax.parser import parse_with_tokens

if TYPE_CHECKING:
    from saftc.codegen.module import Generated


@dataclass(frozen=True, slots=True)
class Checked:
    """A script's tree, tokens and facts, and the diagnostics of the script in source order."""

    source: Source
    module: Module
    facts: Facts
    diagnostics: tuple[Diagnostic, ...]
    lexed: Lexed

    def hints(self) -> tuple[Diagnostic, ...]:
        """The hints of a strict check of a script without errors.

        They point at checks that are made only at run time, and at parts of prompts that servers do
        not enforce or cache.
        """
        if self.has_errors:
            return ()
        from saftc.infer.unproved import run_time_checks

        found = (*run_time_checks(self.module, self.facts), *self.hints_of_prompts())
        return tuple(sorted(found, key=lambda one: one.span.start))

    def hints_of_prompts(self) -> tuple[Diagnostic, ...]:
        """The hints about prompts: constraints that servers do not enforce, text they do not cache.

        Editors show these hints, too.
        """
        if self.has_errors:
            return ()
        from saftc.infer.prompt_hints import hints_of_prompts

        return tuple(hints_of_prompts(self.module, self.facts))

    def options_without_field(self, wire: str) -> tuple[Diagnostic, ...]:
        """The diagnostics for the options of prompts that have no field in the API `wire`."""
        if self.has_errors:
            return ()
        from saftc.infer.prompt_hints import options_without_field

        return tuple(options_without_field(self.module, self.facts, wire))

    @property
    def when_used(self) -> tuple[Diagnostic, ...]:
        """The diagnostics to show when the script runs, without those on unused imports."""
        unused = self.facts.unused_imports
        return tuple(
            one
            for one in self.diagnostics
            if one.code != catalogue.UNUSED_NAME.number or one.span not in unused
        )

    @property
    def has_errors(self) -> bool:
        """Whether the script has errors, so that it cannot be compiled."""
        return any(diagnostic.severity == "error" for diagnostic in self.diagnostics)


@dataclass(frozen=True, slots=True)
class Compiled:
    """A checked script and its Python module. `module` is None if the script has errors."""

    checked: Checked
    module: "Generated | None"

    @property
    def text(self) -> str | None:
        """The text of the module; None if the script has errors."""
        return None if self.module is None else self.module.text


def check(
    source: Source,
    load: Loader = no_modules,
    *,
    most: int | None = LIMIT,
    pure: Iterable[str] = (),
    keeps_results: bool = False,
) -> Checked:
    """Checks a script.

    `load` finds imported modules (`saftc.project.scripts` finds them in files). At most `most`
    mistakes are reported. `pure` are patterns of Python functions that rules of records may call.
    With `keeps_results`, names and functions keep the histories of prompts even if the script does
    not read the histories.
    """
    mistakes = Collector(most)
    with fitting_interpreter():
        parsed = parse_with_tokens(source, mistakes)
        module = parsed.module
        if mistakes.has_errors:
            # Lines with syntax errors may use any name: warnings about unused ones may be wrong.
            mistakes.drop_warnings()
        if any(one.code == catalogue.TOO_DEEP.number for one in mistakes.all()):
            # The script is nested too deeply: the analysis of its loops would take too long.
            module = replace(module, statements=())
        module = with_tools(module, load, mistakes)
        facts = analyze(module, mistakes, load, keeps_results=keeps_results)
        check_rules(facts, mistakes, pure)
        check_judges(facts, mistakes)
    return Checked(source, module, facts, mistakes.report(), parsed.lexed)


def compile_source(
    source: Source, load: Loader = no_modules, overlapping: Overlapping = DEFAULT
) -> Compiled:
    """Compiles a script to a Python module, unless it has errors."""
    return compile_checked(check(source, load, pure=overlapping.pure), overlapping)


def compile_checked(checked: Checked, overlapping: Overlapping = DEFAULT) -> Compiled:
    """Compiles a checked script to a Python module, unless it has errors."""
    if checked.has_errors:
        return Compiled(checked, None)
    # Imported here, so that checking does not import the code generator.
    from saftc.codegen.module import generate
    from saftc.overlap.async_main import check_waits
    from saftc.overlap.plan import plan

    source, module, facts = checked.source, checked.module, checked.facts
    with fitting_interpreter():
        planned = plan(facts, overlapping)
        planned.defaults = overlapping.defaults
        planned.waits_at_top = overlapping.waits_at_top
        planned.taken = overlapping.taken
        mistakes = Collector()
        check_waits(planned, mistakes)
        if mistakes.has_errors:
            found = (*checked.diagnostics, *mistakes.report())
            return Compiled(replace(checked, diagnostics=found), None)
        return Compiled(checked, generate(source, module, facts, planned))
