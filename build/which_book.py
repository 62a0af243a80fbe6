# Compiled by saftc from which_book.saft; edit that file instead.

# An ambiguous lookup: the function says what it cannot decide, and the model chooses among calls
# that are ready to run.

from dataclasses import dataclass
from typing import Any

from runtime_support import Result, overlap, program
from runtime_support.ops import print, show  # print keeps the order
from runtime_support.programs import ambiguous, option


@dataclass(frozen=True)
class Book:
    """One printed edition."""

    title: str
    year: int
    pages: int


shelf = [
    Book("Emma", 1815, 1036),
    Book("Emma", 1996, 512),
    Book("Ulysses", 1922, 732),
]


def find_book(title: str, year: int | None = None) -> Book:
    """The book of this title, from that year if one is given."""
    found = [
        book
        for book in shelf
        if book.title == title and (year is None or book.year == year)
    ]
    if found == []:
        raise AssertionError(f"there is no book called {title}")
    if len(found) > 1:
        editions = [
            option(f"the edition of {book.year}", year=book.year) for book in found
        ]
        raise ambiguous(f"{len(found)} books are called {title}", editions)
    return found[0]


def pages(book: Book) -> int:
    return book.pages


def look_up(wish: str) -> Result[Any]:
    return program(
        "{wish:raw} Use {find_book} and {pages}.",
        wish=wish,
        find_book=find_book,
        pages=pages,
    )


def ask_wish(wish: str) -> None:
    answer = look_up(wish)
    print(wish, show(answer.value), "pages")
    print("  ", answer.usage.requests, "requests,", len(answer.tool_calls), "calls")


overlap(
    ask_wish, ["How long is Ulysses?", "How long is the newest edition of Emma?"]
).run()
