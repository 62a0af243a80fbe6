from typing import Literal

import dspy
from mails import MAILS


class Sort(dspy.Signature):
    """Sort this support mail."""

    mail: str = dspy.InputField()
    title: str = dspy.OutputField()
    topic: Literal["billing", "bug", "other"] = dspy.OutputField()


def is_short(_arguments: object, ticket: dspy.Prediction) -> float:
    return 1.0 if len(ticket.title) <= 40 else 0.0


dspy.configure(lm=dspy.LM("openai/gpt-4o-mini", cache=False))
triage = dspy.BestOfN(module=dspy.Predict(Sort), N=2, reward_fn=is_short, threshold=1.0)

for ticket in triage.batch([dspy.Example(mail=mail).with_inputs("mail") for mail in MAILS]):
    print(ticket.topic, "|", ticket.title)
