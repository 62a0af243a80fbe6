# Compiled by saftc from in.saft; edit that file instead.


def send(to: str, text: str = "hi", times: int = 1) -> str:
    return to + text + str(times)


print(send("a"), send("a", "b"), send("a", times=2), send(text="x", to="y"))
