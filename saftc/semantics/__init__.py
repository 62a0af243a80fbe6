"""A script's tree to the facts about it: names, types, forms, and what is wrong.

`analysis` is the way in, `facts` what comes out. Words that mean one thing here:

symbol      what a name means in its scope; `names` finds it
scope       the names of the module, of a function's call or of a comprehension
type        what is known of a value (`types`); a schema is a type as the script writes it
place       where an expression stands and some type is asked for
wanted      the type that a place asks for
given       the type of the value that comes there
fit         what must be done to a value of the type given where another is wanted
form        which way of writing a construct in Python does what Saft means
proved      certain for all values of the types known, so that Python's own form does
unit        the module or a function: what is inferred in one go, and again when it is outdated
narrowed    of fewer types than before, as a test has shown
history     the tool calls, text, usage and model behind a prompt's value; a keeper has it
mistakes    what is wrong with the script, collected to be reported
"""
