"""Names: suggestions for misspelled names, and names in scripts that Python reserves.

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
    """Returns at most `most` known names that are similar to `name`, the most similar first."""
    import difflib

    by_lower = {candidate.lower(): candidate for candidate in known}
    close = difflib.get_close_matches(name.lower(), list(by_lower), n=most, cutoff=0.6)
    return [by_lower[one] for one in close]


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """Returns a hint with the known name that is most similar, or None."""
    close = near(name, known, 1)
    return f"did you mean `{close[0]}`?" if close else None


def listed(names: Iterable[str], limit: int = 12) -> str:
    """Joins names for a message: `id, name, price`. Shows at most `limit` names."""
    names = list(names)
    shown = ", ".join(names[:limit]) or "none"
    return shown if len(names) <= limit else f"{shown}, ... ({len(names)} in all)"


def function_name(function: object) -> str:
    """Returns the name of a function or class in scripts.

    This is its `__saft_kind__`, if it has one, or else its Python name without the underscore that
    the compiler adds to reserved names.
    """
    own = getattr(function, "__saft_kind__", None)
    if own is not None:
        return str(own)
    name = str(getattr(function, "__name__", type(function).__name__))
    return script_name(name)


def field_name(name: str) -> str:
    """Returns the name of a field in scripts: `class` for `class_`, as Python reserves `class`."""
    import keyword

    stem = name.removesuffix("_")
    return stem if keyword.iskeyword(stem) else name


def script_name(name: str) -> str:
    """Returns the name in scripts for a Python name: `class` for `class_`, `abs` for `abs_`.

    Most names are the same in scripts and in Python.
    """
    import builtins
    import keyword

    stem = name.removesuffix("_")
    forced = keyword.iskeyword(stem) or hasattr(builtins, stem)
    return stem if stem != name and forced else name
