"""The most requests of one prompt. Each rule names the runtime code that limits the requests.

`Limits` has the settings of a run. A prompt's options replace them, and may be formulas. The tests
drive the runtime with every way in which a model can answer, and find exactly these numbers.
"""

from dataclasses import dataclass
from typing import NamedTuple

from saftc.cost.bound import ONE, ZERO, Bound, least, number


class Limits(NamedTuple):
    """The settings that bound the requests of a run, and the most calls that a program may make."""

    max_repairs: int
    max_tool_rounds: int
    max_tool_calls: int
    program_calls: int
    max_retries: int = 0
    budget_requests: int | None = None
    is_structured: bool = False


class Fields(NamedTuple):
    """The fields of a destructuring: how many there are, and whether one of them is optional."""

    number: int
    has_optional: bool


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one prompt.

    `program_calls` bounds the calls of the programs that the prompt runs. If `is_structured`, the
    prompt asks for all fields in one object.
    """

    max_repairs: Bound
    rounds: Bound
    calls: Bound
    program_calls: Bound
    is_structured: bool


def settings_of(limits: Limits) -> Settings:
    """The settings of a prompt that has no options."""
    repairs, rounds, calls, program_calls = map(number, limits[:4])
    return Settings(repairs, rounds, calls, program_calls, limits.is_structured)


def replies(settings: Settings, *, has_tools: bool, is_do: bool, fields: Fields | None) -> Bound:
    """The most replies to a prompt: one more than the replies after which the prompt asks again.

    The prompt asks again after up to `max_repairs` unusable replies (`Conversation.note_attempt`),
    and after rounds. In a round, the model calls tools or hands in fields. `_passed_limit` allows
    at most `max_tool_rounds` rounds and `max_tool_calls` calls. A `do` prompt may call tools in one
    round.

    Some rounds count as unusable replies:

    - a round that hands in no new field, if no field is optional (`FieldsOutput.problem`)
    - a round of a `do` prompt that calls no tool and leaves a field missing (`NOT_ALL`)
    - a round that calls tools although the prompt has none
    """
    return rounds_of(settings, has_tools=has_tools, is_do=is_do, fields=fields) + (
        settings.max_repairs + ONE
    )


def rounds_of(settings: Settings, *, has_tools: bool, is_do: bool, fields: Fields | None) -> Bound:
    """The most rounds after which a prompt asks again. `replies` explains rounds."""
    allowed = least(ONE, settings.rounds) if is_do else settings.rounds
    with_calls = least(allowed, settings.calls) if has_tools else ZERO
    if fields is None or settings.is_structured:
        return with_calls
    if fields.has_optional:
        return settings.rounds
    if is_do:
        return with_calls
    return least(settings.rounds, with_calls + number(fields.number - 1))


def tool_calls(settings: Settings) -> Bound:
    """The most tool calls of one prompt, limited by `Conversation._passed_limit`."""
    return ZERO if settings.rounds.is_zero else settings.calls


def program_replies(settings: Settings) -> Bound:
    """The most replies to a prompt for a program.

    The prompt asks again while the program is wrong or ambiguous, up to `max_tool_rounds` times
    (`ProgramQuestion.settled`). `ProgramOutput.send_back` sends the same mistake back only
    `max_repairs` times. This does not lower the bound, as each mistake may be a new one.
    """
    return settings.rounds + ONE


def program_calls(settings: Settings) -> Bound:
    """The most calls that the programs of one prompt make.

    Several programs may run, as the model may send another one after an ambiguous program or a
    failed conversion (`ProgramOutput.record_outcome`). All programs together make at most
    `Limits.calls` calls (`Machine._call`), or `max_tool_calls` if the prompt sets it
    (`programs._prompting._limits`).
    """
    return settings.program_calls
