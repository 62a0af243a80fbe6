"""The prompts of a run with their steps: the lanes to draw them in, the critical path, sums.

The critical path is the chain of steps that the end of the run waited for. It is found backwards
from the step that ended last: each step is preceded by the step that ended last before it began.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Any, Literal, TypeAlias

from runtime_support._observability.tracing import Event

StepKind: TypeAlias = Literal["request", "repair", "tool"]

# In seconds: how much the times of two consecutive steps may overlap, as clocks are not exact.
_NEAR = 0.002


@dataclass(slots=True, eq=False)
class Step:
    """A step of a prompt, with times in seconds.

    It begins at `start` and takes `seconds`, which include the time that it `waited` before it was
    sent. `told` has its details, without secrets.
    """

    kind: StepKind
    start: float
    seconds: float
    waited: float
    told: dict[str, Any]
    # The characters of `told` as JSON.
    size: int = 0
    is_failed: bool = False
    # Seconds until the first piece of a streamed reply.
    heard: float | None = None
    tokens: tuple[int, int] = (0, 0)
    cached: int = 0
    cost: float | None = None
    unpriced: int = 0  # tokens without a known price; `cost` is then an upper bound
    is_critical: bool = False

    @property
    def end(self) -> float:
        return self.start + self.seconds


@dataclass(slots=True, eq=False)
class Prompt:
    """A prompt with its steps. `within` is the prompt whose tool or program sent it, if any."""

    key: object
    place: str
    start: float
    within: Prompt | None
    # If a loop sends prompts for later items ahead: the number of the item that the prompt belongs
    # to, after the numbers of the enclosing loops' items.
    item: tuple[int, ...] = ()
    # The setting `max_in_flight` of the prompt; 0 if unknown.
    most_in_flight: int = 0
    steps: list[Step] = field(default_factory=list[Step])
    lane: int = 0
    # The request that has no reply yet, the seconds until its first piece, and whether the next
    # request is a repair: it asks for the same result again.
    request: Event | None = None
    heard: float | None = None
    asks_again: bool = False
    # The error, if it failed.
    error: str | None = None

    @property
    def end(self) -> float:
        return max((step.end for step in self.steps), default=self.start)


def put_in_lanes(prompts: Iterable[Prompt]) -> None:
    """Assigns each prompt to the first free lane of the prompt's place."""
    busy: dict[str, list[tuple[float, int]]] = {}
    free: dict[str, list[int]] = {}
    for prompt in prompts:
        ends, lanes = busy.setdefault(prompt.place, []), free.setdefault(prompt.place, [])
        while ends and ends[0][0] <= prompt.start:
            heappush(lanes, heappop(ends)[1])
        prompt.lane = heappop(lanes) if lanes else len(ends)
        heappush(ends, (prompt.end, prompt.lane))


def mark_critical(prompts: list[Prompt]) -> None:
    """Marks the critical path: the steps that the end of the run waited for."""
    # The prompts whose tools send prompts: the tool's step only waits, so it is left out.
    asking = {prompt.within.key for prompt in prompts if prompt.within is not None}
    steps = [
        step
        for prompt in prompts
        for step in prompt.steps
        if step.kind != "tool" or prompt.key not in asking
    ]
    before = float("inf")
    for step in sorted(steps, key=lambda step: step.end, reverse=True):
        # A step is critical if it ended before the next critical one began. The tolerance is
        # smaller for short steps, so that two simultaneous steps are never both on the path.
        step.is_critical = step.end <= before + min(_NEAR, (step.seconds - step.waited) / 2)
        if step.is_critical:
            before = step.start + step.waited


def sums_of(prompts: list[Prompt]) -> dict[str, Any]:
    """The sums of times, numbers, tokens and costs of prompts."""
    steps = [step for prompt in prompts for step in prompt.steps]
    requests = [step for step in steps if step.kind != "tool"]
    costs = [step.cost for step in requests if step.cost is not None]
    first = min((step.start for step in steps), default=0.0)
    return {
        "wall": max((step.end for step in steps), default=0.0) - first,
        "requesting": sum(step.seconds - step.waited for step in requests),
        "waiting": sum(step.waited for step in requests),
        "critical": sum(step.seconds - step.waited for step in steps if step.is_critical),
        "prompts": len(prompts),
        "failed_prompts": sum(prompt.error is not None for prompt in prompts),
        "requests": len(requests),
        "repairs": sum(step.kind == "repair" for step in steps),
        "tools": len(steps) - len(requests),
        "failed": sum(step.is_failed for step in steps),
        "tokens": [sum(step.tokens[side] for step in requests) for side in (0, 1)],
        "cached": sum(step.cached for step in requests),
        "cost": sum(costs) if costs else None,
        "most": any(step.unpriced for step in requests),
    }


def allowed_in_flight(prompts: Iterable[Prompt]) -> list[int]:
    """The smallest and largest `max_in_flight` of the prompts.

    The list is empty if none is known.
    """
    known = {prompt.most_in_flight for prompt in prompts} - {0}
    return [min(known), max(known)] if known else []


def explain_time(prompts: Sequence[Prompt], overlaps: Mapping[str, str]) -> str:
    """A sentence about the bottleneck of the run. It is empty if there was only one prompt.

    One of these states of the run is the bottleneck if it lasted for at least half of the time: no
    request was in flight; as many were in flight as `max_in_flight` allows; fewer were in flight
    while other requests waited. If there is no such state, the bottleneck is the place with the
    longest part of the critical path. The text of `overlaps` for the place is appended.
    """
    if not any(step.kind != "tool" for prompt in prompts for step in prompt.steps):
        return "No request was sent."
    if len(prompts) == 1:
        return ""
    wall, idle, full, held = _shares(prompts)
    allowed = " to ".join(f"{one}" for one in dict.fromkeys(allowed_in_flight(prompts)))
    for seconds, words in (
        (idle, "no request was in flight: the script, its tools and its functions ran"),
        (
            full,
            f"all requests that `max_in_flight` allows ({allowed}) were in flight: raise it, if "
            "the provider takes more",
        ),
        (held, "requests waited: for a rate limit, or for a server that was overloaded"),
    ):
        if wall and seconds >= wall / 2:
            return f"For {seconds / wall:.0%} of the time, {words}."
    critical = defaultdict[str, float](float)
    for prompt in prompts:
        steps = [step for step in prompt.steps if step.is_critical]
        critical[prompt.place] += sum(step.seconds - step.waited for step in steps)
    place, seconds = max(critical.items(), key=lambda one: one[1])
    why = f": {overlaps[place]}" if place in overlaps else ""
    return f"The run waited longest for {place}, {_time(seconds)} of {_time(wall)}{why}."


def _time(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _shares(prompts: Iterable[Prompt]) -> tuple[float, float, float, float]:
    """The seconds from the first request to the end of the last one, and three parts of them.

    In the first part, no request was in flight. In the second, the allowed maximum was in flight.
    In the third, fewer requests were in flight while others waited.
    """
    # Each change has its time, the differences in the numbers of requests in flight and of waiting
    # requests, and the prompt's maximum in flight.
    changes = list[tuple[float, int, int, int]]()
    for prompt in prompts:
        most = prompt.most_in_flight
        for step in prompt.steps:
            if step.kind != "tool":
                sent = step.start + step.waited
                changes += [(step.start, 0, 1, most), (sent, 0, -1, most)]
                changes += [(sent, 1, 0, most), (step.end, -1, 0, most)]
    changes.sort()
    idle = full = held = 0.0
    in_flight, waiting = Counter[int](), 0
    begun = before = changes[0][0]
    for moment, sent, waits, most in changes:
        length, before = moment - before, moment
        allowed = max((one for one, count in in_flight.items() if count), default=0)
        if in_flight.total() >= allowed > 1:
            full += length
        elif waiting:
            held += length
        elif not in_flight.total():
            idle += length
        in_flight[most] += sent
        waiting += waits
    return before - begun, idle, full, held


def requests_in_flight(prompts: Iterable[Prompt]) -> Iterator[tuple[float, int]]:
    """Yields each moment at which the number of requests in flight changes, with the new number."""
    changes = Counter[float]()
    for prompt in prompts:
        for step in prompt.steps:
            if step.kind != "tool":
                changes[step.start + step.waited] += 1
                changes[step.end] -= 1
    count = 0
    for moment in sorted(changes):
        count += changes[moment]
        yield moment, count
