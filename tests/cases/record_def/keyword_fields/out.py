# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    class_: str
    if_: int = 1
    lambda_: int = 2


rule = Rule("a", lambda_=3)
print(rule.class_, rule.if_, rule.lambda_)
