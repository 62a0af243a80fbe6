# Compiled by saftc from in.saft; edit that file instead.

total = 10


def add(x: int) -> int:
    # the call's own; the outer one stays
    total_ = total + x
    total_ += 1
    return total_


def add_to(text: str, more: str = "!") -> str:
    more += text
    text += more
    return text


def if_asked(c: bool) -> int:
    total_ = total
    if c:
        total_ = total - 1
    return total_


print(add(5), add_to("a"), if_asked(True), total)
