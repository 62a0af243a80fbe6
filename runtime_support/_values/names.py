"""Names: suggestions for misspelled ones, and script names that are reserved in Python.

>>> near("lenght", ["length", "items"])
['length']
>>> listed(["id", "name"])
'id, name'
>>> script_name("class_")
'class'
"""

from __future__ import annotations

from collections.abc import Iterable


def near(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """Returns the known names similar to this one, the most similar first, at most `most`."""
    import difflib

    by_lower = {candidate.lower(): candidate for candidate in known}
    close = difflib.get_close_matches(name.lower(), list(by_lower), n=most, cutoff=0.6)
    return [by_lower[one] for one in close]


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """Returns a hint with the most similar name, or None."""
    close = near(name, known, 1)
    return f"did you mean `{close[0]}`?" if close else None


def listed(names: Iterable[str], limit: int = 12) -> str:
    """Joins names for a message: `id, name, price`, cut after `limit`."""
    names = list(names)
    shown = ", ".join(names[:limit]) or "none"
    return shown if len(names) <= limit else f"{shown}, ... ({len(names)} in all)"


def function_name(function: object) -> str:
    """Returns a function's name in the script, without the underscore of reserved names.

    The class of a record carries its script name in `__saft_kind__`.
    """
    own = getattr(function, "__saft_kind__", None)
    if own is not None:
        return str(own)
    name = str(getattr(function, "__name__", type(function).__name__))
    return script_name(name)


def field_name(name: str) -> str:
    """Returns the script name of a field: `class` for `class_`, as Python reserves `class`."""
    import keyword

    stem = name.removesuffix("_")
    return stem if keyword.iskeyword(stem) else name


def script_name(name: str) -> str:
    """Returns the script name of a Python name: `class` for `class_`; most names are equal."""
    import builtins
    import keyword

    stem = name.removesuffix("_")
    forced = keyword.iskeyword(stem) or hasattr(builtins, stem)
    return stem if stem != name and forced else name
