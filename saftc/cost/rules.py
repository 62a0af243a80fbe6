"""The most requests of one prompt, as the runtime bounds them; each rule names its code there.

`Limits` are the settings in force; a prompt's own options may be formulas. The tests drive the
runtime with every way in which a model can answer, and find exactly these numbers.
"""

from dataclasses import dataclass
from typing import NamedTuple

from saftc.cost.algebra import ONE, ZERO, Polynomial, least, number


class Limits(NamedTuple):
    """The settings of a run that bound its requests, and the calls that a program may make."""

    max_repairs: int
    max_tool_rounds: int
    max_tool_calls: int
    program_calls: int
    max_retries: int = 0
    budget_requests: int | None = None
    is_structured: bool = False


class Fields(NamedTuple):
    """The fields of a destructuring: how many, and whether one is optional."""

    number: int
    has_optional: bool


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one prompt.

    `program_calls` bounds the calls of its programs. If `is_structured`, the prompt asks for fields
    as one object.
    """

    max_repairs: Polynomial
    rounds: Polynomial
    calls: Polynomial
    program_calls: Polynomial
    is_structured: bool


def settings_of(limits: Limits) -> Settings:
    """The settings of a prompt that has no options."""
    repairs, rounds, calls, program_calls = map(number, limits[:4])
    return Settings(repairs, rounds, calls, program_calls, limits.is_structured)


def replies(
    settings: Settings, *, has_tools: bool, is_do: bool, fields: Fields | None
) -> Polynomial:
    """The most replies to a prompt: one more than those after which it asks again.

    It asks again after `max_repairs` replies that do not do (`Conversation.note_attempt`), and
    after rounds. A round has calls of tools (`_passed_limit`: at most `max_tool_rounds` rounds and
    `max_tool_calls` calls, in a `do` prompt one round), or hands in fields. If no field is
    optional, a round that hands in no open field is a reply that does not do
    (`FieldsOutput.problem`). So is each round of a `do` prompt that leaves a field open
    (`NOT_ALL`), and one that calls tools if there are none.
    """
    return rounds_of(settings, has_tools=has_tools, is_do=is_do, fields=fields) + (
        settings.max_repairs + ONE
    )


def rounds_of(
    settings: Settings, *, has_tools: bool, is_do: bool, fields: Fields | None
) -> Polynomial:
    """The most rounds after which a prompt asks again; see `replies`."""
    allowed = least(ONE, settings.rounds) if is_do else settings.rounds
    with_calls = least(allowed, settings.calls) if has_tools else ZERO
    if fields is None or settings.is_structured:
        return with_calls
    if fields.has_optional:
        return settings.rounds
    if is_do:
        return with_calls
    return least(settings.rounds, with_calls + number(fields.number - 1))


def tool_calls(settings: Settings) -> Polynomial:
    """The most tool calls of one prompt: `Conversation._passed_limit`."""
    return ZERO if settings.rounds.is_zero else settings.calls


def program_replies(settings: Settings) -> Polynomial:
    """The most replies to a prompt for a program.

    The prompt asks again while the program is wrong or has several readings, up to
    `max_tool_rounds` times (`ProgramQuestion.settled`). That the same mistake goes back only
    `max_repairs` times (`ProgramOutput.send_back`) does not lower the bound, as each mistake may be
    another one.
    """
    return settings.rounds + ONE


def program_calls(settings: Settings) -> Polynomial:
    """The most calls that the programs of one prompt make.

    Each reply may be a program that runs and ends with several readings or a failed conversion
    (`ProgramOutput.record_outcome`). All programs together make at most `Limits.calls` calls
    (`Machine._call`), or `max_tool_calls` if the prompt sets it (`programs._prompting._limits`).
    """
    return settings.program_calls
