# Compiled by saftc from invoices.saft; edit that file instead.

# Extraction of invoices: text files become records with dates and exact amounts, whose rules send
# a wrong reply back with all that is wrong. INVOICE_CSV names a file to write. The compiled module
# is run in this folder, too.

import datetime as dt
import os
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from runtime_support import overlap, prompt
from runtime_support.ops import failure, list_files, read_text, require, write_text

from invoice_checks import is_invoice_number, is_trading_day


@dataclass(frozen=True)
class Line:
    item: str
    amount: Decimal


@dataclass(frozen=True)
class Invoice:
    seller: str
    number: str
    issued: dt.date
    currency: Literal["EUR", "NOK", "USD"]
    lines: list[Line]
    total: Decimal

    def __post_init__(self) -> None:
        require(
            is_invoice_number(self.number),
            f"{self.number} is not the number of an invoice",
        )
        require(is_trading_day(self.issued), f"nothing was bought on {self.issued}")
        require(
            self.total == sum((line.amount for line in self.lines), Decimal(0)),
            "the lines do not add up to the total",
        )


def read_invoice(text: str) -> Invoice:
    return prompt(
        """
        Extract the seller, number, date, currency, lines and total of this invoice:

        {text:raw}
        """,
        text=text,
        returns=Invoice,
    ).value


def csv_row(cells: list[str]) -> str:
    return ",".join(quoted(cell) for cell in cells)


def quoted(cell: str) -> str:
    if "," in cell or '"' in cell:
        return '"' + cell.replace('"', '""') + '"'
    return cell


rows = [csv_row(["file", "seller", "number", "issued", "due", "total", "currency"])]


def ask_file(file: str) -> list[str]:
    new_rows: list[str] = []
    try:
        invoice = read_invoice(read_text(file))
        due = invoice.issued + dt.timedelta(days=30)
        new_rows.append(
            csv_row(
                [
                    file,
                    invoice.seller,
                    invoice.number,
                    str(invoice.issued),
                    str(due),
                    str(invoice.total),
                    invoice.currency,
                ]
            )
        )
    except Exception as error:
        new_rows.append(csv_row([file, failure(error).message]))
    return new_rows


for new_rows in overlap(ask_file, list_files("invoices/*.txt")):
    rows.extend(new_rows)

table = "\n".join(rows)
print(table)

path = os.environ.get("INVOICE_CSV")
if path is not None:
    write_text(path, table + "\n")
    print(f"written to {path}")
