# Compiled by saftc from in.saft; edit that file instead.

# what `sorted`, `min` and `max` compare: `key=` where the function and the items are known

from dataclasses import dataclass
from typing import Any

from runtime_support import ops
from runtime_support.ops import parse, show


@dataclass(frozen=True)
class Note:
    title: str
    words: int
    score: float | None = None


def words(note: Note) -> int:
    return note.words


def title(note: Note) -> str:
    return note.title


def weight(note: Note, factor: float = 1.5) -> float:
    return note.words * factor


def score(note: Note) -> float | None:
    return note.score


def loose(note: Any) -> Any:
    return ops.member(note, "words")


def last(text: str) -> str:
    return text[-1]


def half(n: float) -> float:
    return n / 2


notes = [Note("Plans", 120), Note("Ideas", 40, 0.5), Note("Lists", 120)]
print(show(sorted(notes, key=words)), show(sorted(notes, key=title, reverse=True)))
print(show(sorted(notes, reverse=True, key=words)), show(sorted(notes, key=words)))
print(
    show(min(notes, key=words)),
    show(max(notes, key=weight)),
    show(min(notes[0], notes[1], key=title)),
)
print(
    show(sorted(["pear", "fig"], key=len)),
    show(sorted(["b", "A"], key=str.lower)),
    max(["9", "12"], key=int),
)
print(
    show(sorted([[1, 2], [3]], key=sum)),
    show(sorted([("b", 1)], key=len)),
    min([-2, 1], key=abs),
)

# the runtime asks where the items or what is compared are not known, or have to be converted
data = parse('[{"words": 2}, {"words": 1}]')
print(
    show(ops.sorted(data, by=loose)),
    show(ops.sorted(notes, by=loose)),
    show(ops.min(data, by=loose)),
)
print(show(ops.sorted(notes, by=score)), show(ops.sorted([2, 1], by=half)))


def same(function: Any) -> Any:
    return function


by = same(words)
print(show(ops.sorted(notes, by=by)), show(ops.sorted(by=same(words), items=notes)))


def longest(texts: list[str], by: Any) -> Any:
    return ops.add(
        ops.add(ops.max(texts, by=by), ops.min(same(texts))), ops.min(texts, by=by)
    )


print(show(longest(["ab", "c"], last)), show(longest(["ab", "c"], ops.len)))
for note in sorted(
    notes,
    key=words,  # the shortest first
    reverse=False,
):
    print(note.title, show([one.title for one in sorted(notes, key=title)]))
