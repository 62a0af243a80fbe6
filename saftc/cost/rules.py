"""The most requests of one prompt, as the runtime bounds them: each rule names the place.

`Limits` are the settings in force; a prompt's own options may be formulas. The tests drive the
runtime with every way in which a model can answer, and find just these numbers.
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
    """What a destructuring asks for: how many fields, and whether one may stay away."""

    number: int
    has_optional: bool


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one prompt. `program_calls` bounds the calls of its programs; where it
    `is_structured`, fields are asked for as one object.
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
    """The most replies that a prompt takes: one more than those after which it goes on.

    It goes on after `max_repairs` replies that do not do (`Conversation._note_attempt`), and after
    rounds. A round has calls of tools (`_passed_limit`: at most `max_tool_rounds`, in all at most
    `max_tool_calls`, of a `do` one), or hands in fields. Where fields may not stay away, a round
    that hands in none which was open is a reply that does not do (`FieldsOutput.objection`), and of
    a `do` each that leaves one open (`NOT_ALL`); so is one with calls where there are no tools
    (`NO_TOOLS`).
    """
    return rounds_of(settings, has_tools=has_tools, is_do=is_do, fields=fields) + (
        settings.max_repairs + ONE
    )


def rounds_of(
    settings: Settings, *, has_tools: bool, is_do: bool, fields: Fields | None
) -> Polynomial:
    """The most rounds after which a prompt goes on; see `replies`."""
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
    """The most calls of tools in one prompt: `Conversation._passed_limit`."""
    return ZERO if settings.rounds.is_zero else settings.calls


def program_replies(settings: Settings) -> Polynomial:
    """The most replies to a prompt for a program: it is asked again while it is wrong, or has
    several readings, as often as `max_tool_rounds` says (`ProgramQuestion.settled`); that the same
    mistake is told `max_repairs` times alone (`ProgramOutput.send_back`) makes it no less, as each
    may be another one.
    """
    return settings.rounds + ONE


def program_calls(settings: Settings) -> Polynomial:
    """The most calls that the programs of one prompt make: each reply may be a program that runs
    and comes to several readings or a conversion that fails (`ProgramOutput.came_to`), and all
    together make at most `Limits.calls` (`Machine._call`), or `max_tool_calls` if the prompt says
    so (`programs._prompting._limits`).
    """
    return settings.program_calls
