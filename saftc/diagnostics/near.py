"""The name that was probably meant: `near("pepole", ["people", "print"])` gives `"people"`."""

from collections.abc import Iterable
from difflib import get_close_matches

# A name as long as this is a mistake of another kind, and comparing it would take long.
_LONGEST = 60


def near(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate closest to `name`, or None when none is close enough to be worth saying."""
    if len(name) > _LONGEST:
        return None
    folded = {candidate.lower(): candidate for candidate in sorted(candidates, reverse=True)}
    matches = get_close_matches(name.lower(), folded, n=1, cutoff=0.65)
    return folded[matches[0]] if matches else None


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """The hint that names the candidate closest to `name`, if one is close enough."""
    meant = near(name, candidates)
    return f"did you mean `{meant}`?" if meant else None
