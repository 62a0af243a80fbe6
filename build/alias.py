# Compiled by saftc from alias.saft; edit that file instead.

# Alias and capability boundary: the model sees the name that is written in the prompt, and it can
# call the functions in the prompt and nothing else.

from runtime_support import prompt

log = ["start"]


def newest() -> str:
    """The newest entry of the log."""
    return log[-1]


def wipe() -> str:
    """Deletes everything. No prompt below mentions it, so no model can call it."""
    return "wiped"


# an alias is an ordinary assignment; here the tool's name becomes `last_entry`
last_entry = newest


def report() -> str:
    return prompt(
        "Call {last_entry} and repeat what it says.",
        last_entry=last_entry,
    ).value


print("first: " + report())

# a tool is a closure: it sees the log as it is when it is called
log = [*log, "backup finished"]
print("then: " + report())
