"""Guesses the intended name: `near("pepole", ["people", "print"])` returns `"people"`."""

from collections.abc import Iterable
from difflib import get_close_matches

from saftc.diagnostics.model import Hint
from saftc.source import common_ends

# Longer names are probably another mistake, and slow to compare.
_LONGEST = 60
# If a shorter name differs in one letter, it is probably another name.
_SHORTEST = 4


def near(name: str, candidates: Iterable[str]) -> str | None:
    """Returns the candidate closest to `name`, or None if no candidate is close enough."""
    if len(name) > _LONGEST:
        return None
    folded: dict[str, list[str]] = {}
    for candidate in sorted(candidates):
        folded.setdefault(candidate.lower(), []).append(candidate)
    matches = get_close_matches(name.lower(), folded, n=1, cutoff=0.7)
    # If `Label` and `label` are both close, the candidate with more letters in the same case wins.
    return get_close_matches(name, folded[matches[0]], n=1, cutoff=0)[0] if matches else None


def did_you_mean(name: str, candidates: Iterable[str]) -> Hint | None:
    """Returns a hint that suggests the candidate closest to `name`.

    Returns None if no candidate is close enough.
    """
    candidates = list(candidates)
    meant = near(name, candidates)
    if meant is None:
        return None
    return meant_to_be(meant, is_guess=not is_slip(name, meant, candidates))


def meant_to_be(meant: str, *, is_guess: bool = False) -> Hint:
    """Returns a hint that suggests `meant` in place of the diagnostic's text."""
    return Hint(f"did you mean `{meant}`?", instead=meant, is_guess=is_guess)


def is_slip(written: str, meant: str, candidates: Iterable[str]) -> bool:
    """True if `written` is certainly a typing error for `meant`.

    The words may differ in the case of letters, or in one letter that is missing, superfluous,
    wrong, or swapped with its neighbour. A typing error is not certain in short words, in digits,
    or if another candidate is close.
    """
    others = [one for one in candidates if one != meant]
    if near(written, others) is not None:
        return False
    one, other = sorted((written.lower(), meant.lower()), key=len)
    first, last = common_ends(one, other)
    wrong, right = one[first : len(one) - last], other[first : len(other) - last]
    if len(one) < _SHORTEST or any(map(str.isdigit, wrong + right)):
        return False
    return len(right) <= 1 or (len(right) == 2 and wrong == right[::-1])
