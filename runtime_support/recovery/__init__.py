"""The value that a model's reply holds, by the schema that was asked for.

    recover('{"name": "Ada"}', schema)              Recovered({"name": "Ada"}, ())
    recover("Sure: {name: 'Ada',}", schema)         the same value, with what had to be repaired
    recover('{"name": "Ada", "born": 18', schema)   RecoveryRefused: the reply ends in the middle

A reply goes through these steps, and the first that gives a value ends the search:

    strict JSON              the whole reply
    bodies                   without thinking; fences and prose found
    candidates               every object and list in it, read loosely, each fitted to the schema
    other notations          markup, tables, YAML and bullets, separated values
    words                    a number, a bool or a member of an enumeration in plain text

Everything that reads (`loose`, `tables`, `lines`, `numbers`, `words`) knows no schema; `fitting`
knows no text. A step that finds several different values equally good refuses, and so does data
that is cut or broken: what cannot be told is asked again, never guessed.
"""

from runtime_support.recovery.recovering import Recovered, RecoveryRefused, recover

__all__ = ["Recovered", "RecoveryRefused", "recover"]
