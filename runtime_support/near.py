"""The name that was probably meant: `nearest("lenght", ["length", "items"]) == "length"`."""

from __future__ import annotations

from runtime_support.quick_typing import Iterable


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like this one, or None when none is near."""
    import difflib

    by_lower = {candidate.lower(): candidate for candidate in known}
    close = difflib.get_close_matches(name.lower(), list(by_lower), n=1, cutoff=0.6)
    return by_lower[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str]) -> str | None:
    """A hint with the nearest name, or None."""
    near = nearest(name, known)
    return None if near is None else f"did you mean `{near}`?"


def listed(names: Iterable[str], limit: int = 12) -> str:
    """Names for a message: `id, name, price`, cut after `limit`."""
    names = list(names)
    shown = ", ".join(names[:limit]) or "none"
    return shown if len(names) <= limit else f"{shown}, ... ({len(names)} in all)"
