# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt


# `stream` is a word before a prompt alone
def tell(stream: str, part_: str) -> str:
    # above the stream
    for part in prompt(
        "Tell of {stream_} and {part}.", stream_=stream, part=part_, stream=True
    ).pieces():
        print(part, end="", flush=True)
    print()  # beside it
    for part_ in prompt(
        """
        Tell of {part},
        and of nothing else.
        """,
        part=part_,
        stream=True,
    ).pieces():
        print(part_)
    return part_


stream = "a"
print(tell(stream, "b"))
for word in [stream]:
    for piece in prompt("{word}", word=word, stream=True).pieces():
        answer = prompt("What of {piece}?", piece=piece).value
        print(answer)
