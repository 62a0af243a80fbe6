# Compiled by saftc from in.saft; edit that file instead.

print("hello")


def work() -> None:
    print("working")


work()
