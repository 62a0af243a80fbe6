# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import Failed, prompt
from runtime_support.ops import failure, show

told = prompt("Begin.")
try:
    count = prompt("How many?", returns=int, after=told).value
    told = prompt("Why {count}?", count=count, after=told)
except Exception as exception:
    error = failure(exception)
    print(error.kind, show(error.text), error.attempts)
    told = prompt("Then say it otherwise.", after=told)
print(told.value, show(told.usage))


def look(word: str) -> str:
    if word == "":
        raise Failed("give a word")
    return word.upper()


try:
    print(prompt("Use {look}.", look=look, rounds=1).value)
except Exception as exception:
    error = failure(exception)
    print(
        prompt(
            "Explain {error} and {message:raw}.", error=error, message=error.message
        ).value
    )
