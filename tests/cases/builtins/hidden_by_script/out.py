# Compiled by saftc from in.saft; edit that file instead.


def upper(text: str) -> str:
    return text + "!"


len = 3
print(upper("a"), len)
