# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import ops, program, prompt
from runtime_support.ops import show


def summarize(text: str) -> str:
    """One sentence on a text."""
    return prompt("Sum up {text} in one sentence.", text=text).value


def combine(texts: list[str]) -> str:
    """The summaries as one."""
    return "\n".join(texts)


def log(text: str) -> str:
    print(text)
    return summarize(text)


def shout(text: str) -> str:
    return summarize(text).upper()


def with_tools(text: str) -> str:
    return prompt(
        "{text}: {shout} {combine}",
        text=text,
        shout=shout,
        combine=combine,
        pure=[shout],  # may be called at the same time
    ).value


def with_effects(text: str) -> str:
    return prompt("{text}: {log}", text=text, log=log).value


def of_any(text: str, how: Any) -> str:
    return show(ops.call(how, text)) + prompt("{text}", text=text).value


def again(count: int) -> str:
    if count == 0:
        return prompt("begin").value
    return again(count - 1)


# those that only ask a model may run together
print(
    show(
        program(
            "{summarize} {combine} {log} {shout} {with_tools} {with_effects} {of_any} {again} for {0}",
            "a",
            summarize=summarize,
            combine=combine,
            log=log,
            shout=shout,
            with_tools=with_tools,
            with_effects=with_effects,
            of_any=of_any,
            again=again,
            pure=[summarize, shout, with_tools, again],
        ).value
    )
)
short = summarize
print(show(program("{short}", short=short, pure=[short]).value))
