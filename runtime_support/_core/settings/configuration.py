"""Sets settings from Python: for the process, for a block, for a module.

configure(provider="openai", model="gpt-4o-mini")       for the process
with configure(model="gpt-4o"): ...                     for a block
defaults(model="gpt-4o")                                for the prompts of this module
current_settings()                                      to pass to another process
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from functools import partial
from types import MappingProxyType, TracebackType
from typing import Any

from runtime_support._core.hooks import BUDGETS, load_part
from runtime_support._core.settings import (
    DEFAULTS,
    SETTING_TYPES,
    ModuleDefaults,
    replace_configured,
    set_ones,
    settings_for,
)
from runtime_support._core.settings.checks import checked_option
from runtime_support._values.context import Block, current_context
from runtime_support.errors import ConfigError


class Configured:
    """The settings of one call of `configure`. A `with` statement limits them to its block."""

    def __init__(self, changes: dict[str, Any], before: dict[str, Any] | None = None) -> None:
        self._changes = changes
        # Budgets in a `configure` block bound the block itself.
        bounds = {} if before is None else {name: changes.get(name) for name in BUDGETS}
        self._bounds = set_ones(bounds)
        # The settings that `configure` replaced in the process; a block restores them.
        self._before = before
        self._entered: list[Block] = []

    def __enter__(self) -> None:
        if self._before is not None:
            replace_configured(partial(self._restored, self._before))
            self._before = None
        changes: dict[str, Any] = {"settings": dict(self._changes)}
        if self._bounds:
            changes["budgets"] = load_part("budgets").budget_of_block(self._bounds)
        block = Block(**changes)
        block.__enter__()
        self._entered.append(block)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._entered.pop().__exit__(kind, error, traceback)

    def _restored(self, before: dict[str, Any], process: dict[str, Any]) -> dict[str, Any]:
        """Returns the settings of the process with the changes of this `configure` undone."""
        # Another `configure` may have set some of them again.
        own = [name for name, value in self._changes.items() if process.get(name) is value]
        return {**process, **{name: before.get(name) for name in own}}


def configure(**settings: Any) -> Configured:
    """Sets settings for every prompt of the process, or of a `with` block. None unsets a setting.

        configure(provider="openai", model="gpt-4o-mini", budget_cost=2.50)
        with configure(temperature=0):
            ...

    The names are the fields of `Settings`; see there for their meanings and defaults. `provider`
    is a name ("openai", "anthropic", "gemini", "openrouter", "local", "mock", "unset") or any
    object with `complete(request) -> reply`.

    A block applies to the prompts inside of it, in this thread or task and in others that get a
    copy of its context. A budget of a block counts only what is spent inside of the block. Options
    of a single prompt override blocks, blocks override the process, and the process overrides the
    environment and pyproject.toml.

    Raises a ConfigError that names an unknown setting, or a setting with a wrong value.
    """
    checked = {name: checked_option(name, one, "configure") for name, one in settings.items()}
    return Configured(checked, replace_configured(lambda process: {**process, **checked}))


@contextmanager
def current_configuration(
    settings: Mapping[str, Any], around: Mapping[str, Any] = MappingProxyType({})
) -> Generator[None]:
    """Sets settings for a `with` block alone, so that threads can have different settings.

    The settings `around` replace those of `configure`, and do not count as set by the program.
    """
    own, others = (
        {name: checked_option(name, one[name], "setting") for name in one}
        for one in (settings, around)
    )
    with Block(settings_around=others or current_context().settings_around), Configured(own):
        yield


def current_settings() -> dict[str, Any]:
    """Returns the settings in force here, for `configure(**current_settings())` in another process.

    The settings can be pickled, and those that are not set are omitted. They contain no key, but
    may name the variable that holds a key. Raises a ConfigError if the provider is an object that
    cannot be pickled.
    """
    import pickle

    settings = settings_for()
    found = set_ones({name: getattr(settings, name) for name in SETTING_TYPES})
    try:
        pickle.dumps(found)
    except Exception as error:
        raise ConfigError(
            f"the settings cannot be pickled: {error}",
            setting="provider",
            hint="choose a provider by name, or make it where it is used",
        ) from error
    return found


# Settings that a module may not set: where prompts and keys go, and limits of the whole run.
OF_THE_RUN = frozenset(
    (
        *(*BUDGETS, "base_url", "api_key_env"),
        *("requests_per_minute", "tokens_per_minute", "max_in_flight"),
    )
)


def defaults(**settings: Any) -> None:
    """Sets defaults for the prompts of the calling module. All settings of the user override these.

    So an installed module keeps the settings of the project that it comes from. Raises a
    ConfigError that names a setting that is unknown, has a wrong value, or may not come from a
    module.
    """
    checked = {name: checked_option(name, value, "defaults") for name, value in settings.items()}
    for name in checked:
        if name in OF_THE_RUN:
            raise ConfigError(f"defaults: `{name}` cannot be set by a module", setting=name)
    sys._getframe(1).f_globals[DEFAULTS] = ModuleDefaults(set_ones(checked))  # pyright: ignore[reportPrivateUsage]
