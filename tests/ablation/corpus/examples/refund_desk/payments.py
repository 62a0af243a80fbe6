"""The money of the refund desk: what was paid back, in a file of one line a payment."""

from pathlib import Path

LEDGER = Path("paid.txt")


def pay(order: str, amount: float) -> str:
    """Pays an amount back for an order; a receipt."""
    with LEDGER.open("a", encoding="utf-8") as ledger:
        ledger.write(f"{order} {amount:.2f}\n")
    return f"paid {amount:.2f} for {order}"
