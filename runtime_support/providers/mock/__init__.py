"""A model without a model: deterministic heuristics, enough for every example.

    "who has the longest name in ["Al","Barbara"]?"      Barbara
    "add 2 and 3", an int asked for                       5
    "call up(verb) for each verb in ["a","b"]", a tool    calls it twice, answers ["A","B"]

It reads what a model would read: the prompt's text with the JSON values in it, the tools, and the
schema of the value that is asked for. The same request always has the same reply.
"""

from runtime_support.providers.mock.provider import MockProvider

__all__ = ["MockProvider"]
