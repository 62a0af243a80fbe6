"""Names: the one that was probably meant, and a script's names that Python forces another form on.

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
    """The known names like this one, the most similar first, at most `most` of them."""
    import difflib

    by_lower = {candidate.lower(): candidate for candidate in known}
    close = difflib.get_close_matches(name.lower(), list(by_lower), n=most, cutoff=0.6)
    return [by_lower[one] for one in close]


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint with the nearest name, or None."""
    close = near(name, known, 1)
    return f"did you mean `{close[0]}`?" if close else None


def listed(names: Iterable[str], limit: int = 12) -> str:
    """Names for a message: `id, name, price`, cut after `limit`."""
    names = list(names)
    shown = ", ".join(names[:limit]) or "none"
    return shown if len(names) <= limit else f"{shown}, ... ({len(names)} in all)"


def function_name(function: object) -> str:
    """A function's name in the script: without the underscore that Python forced on it.

    The class of a record says its own.
    """
    own = getattr(function, "__saft_kind__", None)
    if own is not None:
        return str(own)
    name = str(getattr(function, "__name__", type(function).__name__))
    return script_name(name)


def field_name(name: str) -> str:
    """The field `class_` is the script's `class`, which Python keeps for itself."""
    import keyword

    stem = name.removesuffix("_")
    return stem if keyword.iskeyword(stem) else name


def script_name(name: str) -> str:
    """`class_` is the Python form of the script's `class`; other names are the same in both."""
    import builtins
    import keyword

    stem = name.removesuffix("_")
    forced = keyword.iskeyword(stem) or hasattr(builtins, stem)
    return stem if stem != name and forced else name
