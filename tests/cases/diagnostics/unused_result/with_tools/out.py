# Compiled by saftc from in.saft; edit that file instead.
from math import sqrt as send

from runtime_support import prompt


def notify(name: str) -> None:
    print("hello", name)


prompt("Tell everyone with {notify}", notify=notify)
prompt("Tell Ada with {send}", send=send, rounds=1)
prompt("Tell nobody anything, {0}", "please")
