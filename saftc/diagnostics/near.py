"""The name that was probably meant: `near("pepole", ["people", "print"])` gives `"people"`."""

from collections.abc import Iterable
from difflib import get_close_matches

from saftc.diagnostics.model import Advice

# A name as long as this is a mistake of another kind, and comparing it would take long.
_LONGEST = 60


def near(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate closest to `name`, or None when none is close enough to be worth saying."""
    if len(name) > _LONGEST:
        return None
    folded = {candidate.lower(): candidate for candidate in sorted(candidates, reverse=True)}
    matches = get_close_matches(name.lower(), folded, n=1, cutoff=0.65)
    return folded[matches[0]] if matches else None


def did_you_mean(name: str, candidates: Iterable[str]) -> Advice | None:
    """The hint that names the candidate closest to `name`, if one is close enough."""
    meant = near(name, candidates)
    return None if meant is None else meant_to_be(meant)


def meant_to_be(meant: str) -> Advice:
    """The hint that names what was meant, where it belongs at the place of the diagnostic."""
    return Advice(f"did you mean `{meant}`?", instead=meant)
