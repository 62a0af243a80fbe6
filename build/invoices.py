# Compiled by saftc from invoices.saft; edit that file instead.

# Extraction of invoices: text files become typed records, arithmetic checks them, and the result
# is a table. INVOICE_CSV names a file to write. The compiled module is run in this folder, too.

import os
from typing import Literal, TypedDict

from runtime_support import overlap, prompt
from runtime_support.ops import list_files, read_text, write_text


class Line(TypedDict):
    item: str
    amount: float


class Invoice(TypedDict):
    seller: str
    number: str
    date: str
    currency: Literal["EUR", "NOK", "USD"]
    lines: list[Line]
    total: float


def read_invoice(text: str) -> Invoice:
    return prompt(
        """
        Extract the number, date (YYYY-MM-DD), seller, currency, total and lines from this invoice:

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


rows = [csv_row(["file", "seller", "number", "date", "total", "currency", "check"])]


def ask_file(file: str) -> tuple[str, Invoice]:
    invoice = read_invoice(read_text(file))
    return file, invoice


for file, invoice in overlap(ask_file, list_files("invoices/*.txt")):
    # the model reads, the script calculates
    added = round(sum(line["amount"] for line in invoice["lines"]), 2)
    verdict = (
        "ok" if added == round(invoice["total"], 2) else f"lines add up to {added}"
    )
    rows.append(
        csv_row(
            [
                file,
                invoice["seller"],
                invoice["number"],
                invoice["date"],
                str(invoice["total"]),
                invoice["currency"],
                verdict,
            ]
        )
    )

table = "\n".join(rows)
print(table)

path = os.environ.get("INVOICE_CSV")
if path is not None:
    write_text(path, table + "\n")
    print(f"written to {path}")
