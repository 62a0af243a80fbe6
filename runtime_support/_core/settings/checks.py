"""Checks the names and values of settings.

    checked_option("temperature", 0.5, "option")        0.5, or a ConfigError with the nearest name
    checked_options({"temperature": 0.5})               the options of a prompt
    setting_from_text("max_tokens", "100", origin)      100

This module is loaded with the first setting that is not a text of the environment.
"""

from __future__ import annotations

from typing import Any

from runtime_support._core.messages import Provider
from runtime_support._core.settings.fields import OF_THE_COMPILER, PROVIDERS, SETTING_TYPES
from runtime_support._schema import check
from runtime_support._values.kinds import brief, is_object, plain, quote
from runtime_support._values.names import did_you_mean, listed
from runtime_support._values.renamed import SETTINGS, VALUES, renamed
from runtime_support.errors import CheckError, ConfigError

# Names of options in other tools.
OPTIONS_ELSEWHERE = {"max_completion_tokens": "max_tokens"}

_NO_LIMIT = float("inf")
_LIMITS: dict[str, tuple[float, float]] = {
    "temperature": (0, _NO_LIMIT),
    "top_p": (0, 1),
    "max_tokens": (1, _NO_LIMIT),
    "timeout": (0.001, _NO_LIMIT),
    "silence": (0.001, _NO_LIMIT),
    "max_retries": (0, _NO_LIMIT),
    "max_wait": (0, _NO_LIMIT),
    "requests_per_minute": (0.001, _NO_LIMIT),
    "tokens_per_minute": (0.001, _NO_LIMIT),
    "max_reply_bytes": (1, _NO_LIMIT),
    "max_repairs": (0, _NO_LIMIT),
    "max_tool_rounds": (0, _NO_LIMIT),
    "max_tool_calls": (0, _NO_LIMIT),
    "max_in_flight": (1, _NO_LIMIT),
    "budget_requests": (0, _NO_LIMIT),
    "budget_tokens": (0, _NO_LIMIT),
    "budget_cost": (0, _NO_LIMIT),
}
# Parsers for settings of the environment that are not texts.
_FROM_TEXT: dict[Any, Any] = {float: float, int: int}


def checked_options(options: Any) -> dict[str, Any]:
    """Returns the checked options of a prompt, without those that are nil.

    Raises ConfigError if they are no object, or if one is unknown or does not fit.
    """
    if not is_object(options):
        raise ConfigError(f"the options of a prompt are an object, got {brief(options)}")
    checked = {name: checked_option(name, plain(one), "option") for name, one in options.items()}
    return {name: value for name, value in checked.items() if value is not None}


def checked_option(name: str, value: Any, origin: str) -> Any:
    """Returns the checked value of an option, or None if the option is to be unset.

    Raises ConfigError if the option is unknown or the value does not fit.
    """
    type_ = _type_of(name, origin)
    if value is None:
        return None
    if name == "provider" and isinstance(value, Provider) and not isinstance(value, type):
        return value
    if name == "approver":
        return _checked_approver(value, origin)
    # The names of variables and command options already contain the setting's name.
    place = origin if origin.startswith(("SAFT_", "--")) else f"{origin} {name}"
    try:
        # Most are texts and numbers, which do not need the checker.
        is_plain = type(value) is type_
        checked: Any = value if is_plain else check(value, type_, path=place)
    except CheckError as error:
        hint = _new_value(name, value)
        raise ConfigError(error.message, setting=name, hint=hint) from None
    if name in _LIMITS and not _LIMITS[name][0] <= checked <= _LIMITS[name][1]:
        least, most = _LIMITS[name]
        wanted = f"{most} or less" if checked > most else f"{least} or more"
        message = f"{place}: expected {wanted}, got {brief(checked)}"
        raise ConfigError(message, setting=name)
    if name == "prices" and any(cost < 0 for one in checked.values() for cost in one.values()):
        raise ConfigError(f"{origin} prices: a price is 0 or more", setting=name)
    if name == "fallback":
        if not checked:
            raise ConfigError(f"{place}: the list names no model", setting=name)
        twice = [one for one in checked if checked.count(one) > 1]
        if twice:
            raise ConfigError(f"{place}: {quote(twice[0])} is named twice", setting=name)
    if name == "provider":
        check_provider_name(str(checked), origin)
    return checked


def _type_of(name: str, origin: str) -> Any:
    if name in SETTING_TYPES:
        return SETTING_TYPES[name]
    new = renamed(name, SETTINGS[name]) if name in SETTINGS else None
    known = f"the options are {listed(SETTING_TYPES, limit=20)}"
    others = OF_THE_COMPILER if origin.endswith("[tool.saft]") else ()
    near = did_you_mean(OPTIONS_ELSEWHERE.get(name, name), (*SETTING_TYPES, *others))
    hint = new or near or known
    raise ConfigError(f"{origin}: no option `{name}`", setting=name, hint=hint)


def _new_value(setting: str, value: object) -> str | None:
    """Returns a hint with the new name if a value of the setting was once called `value`."""
    new = VALUES.get(setting, {}).get(value) if isinstance(value, str) else None
    return renamed(str(value), new) if new else None


def _checked_approver(value: Any, origin: str) -> Any:
    """Returns the checked approver. Only Python code may set it, not a script or a file."""
    if origin not in ("configure", "setting"):
        hint = "set it in Python: configure(approver=ask_the_desk)"
        raise ConfigError(f"{origin}: no option `approver`", setting="approver", hint=hint)
    if not callable(value) or isinstance(value, type):
        message = f"{origin} approver: expected a function, got {brief(value)}"
        raise ConfigError(message, setting="approver")
    return value


def check_provider_name(name: str, origin: str) -> None:
    """Raises ConfigError if no provider has this name."""
    if name not in PROVIDERS:
        near = _new_value("provider", name) or did_you_mean(name, PROVIDERS)
        hint = near or f"the providers are {listed(PROVIDERS)}"
        if name == "scripted":
            hint = "make one in Python: configure(provider=Scripted([...]))"
        raise ConfigError(f"{origin}: no provider `{name}`", setting="provider", hint=hint)


def setting_from_text(name: str, text: str, origin: str) -> Any:
    """Parses a setting's text. Raises ConfigError if a number is expected and not found."""
    read = _FROM_TEXT.get(SETTING_TYPES[name])
    if read is None:
        return text
    try:
        return read(text)
    except ValueError:
        wanted = f"{'an int' if read is int else 'a number'} of {_LIMITS[name][0]} or more"
        raise ConfigError(f"{origin}: expected {wanted}, got {brief(text)}", setting=name) from None
