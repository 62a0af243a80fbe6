# Compiled by saftc from letters.saft; edit that file instead.

# A run with a budget and a journal. This stops before it asks for the third letter:
#   saftc run letters.saft --journal letters.journal --budget-requests 2
# and the same command with `--budget-requests 6` goes on from there: no letter is asked for twice.

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal

from runtime_support import overlap, prompt
from runtime_support.ops import require


@dataclass(frozen=True)
class Debt:
    """What a customer owes."""

    name: str
    amount: Decimal
    due: dt.date


@dataclass(frozen=True)
class Letter:
    """A reminder to a customer."""

    subject: str
    body: str

    def __post_init__(self) -> None:
        require(len(self.subject) <= 60, "the subject is one short line")
        require(len(self.body) <= 600, "the letter is short")


def remind(debt: Debt) -> Letter:
    """Writes a reminder of a debt."""
    return prompt(
        """
        Write a friendly reminder to {name:raw}, who has owed us {amount} since
        {due}. Three sentences, no threats, no signature.
        """,
        name=debt.name,
        amount=debt.amount,
        due=debt.due,
        returns=Letter,
    ).value


DEBTS = [
    Debt("Ruth Adler", Decimal("1240.50"), dt.date(2026, 9, 30)),
    Debt("Tomás Vega", Decimal("89.90"), dt.date(2026, 11, 2)),
    Debt("Imani Okoro", Decimal("310.00"), dt.date(2026, 10, 15)),
]


def ask_debt(debt: Debt) -> tuple[Debt, Letter]:
    letter = remind(debt)
    return debt, letter


for debt, letter in overlap(ask_debt, DEBTS):
    print(f"To {debt.name}: {letter.subject}")
    print(letter.body)
