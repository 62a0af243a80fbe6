"""The bookshop of the support agent: orders in sqlite, and what a model may do with them."""

import sqlite3
from dataclasses import dataclass
from functools import cache

SCHEMA = """
create table if not exists orders (id integer primary key, customer text, book text, price real,
    state text);
create table if not exists books (title text primary key, price real, copies integer);
create table if not exists tickets (id integer primary key, about text);
"""
BOOKS = [("Emma", 9.5, 3), ("Ulysses", 12.0, 0), ("Dune", 11.0, 7)]
ORDERS = [(17, "Ada", "Emma", 9.5, "delivered"), (18, "Ada", "Dune", 11.0, "paid")]


@dataclass
class Order:
    """An order of a book."""

    id: int
    customer: str
    book: str
    price: float
    state: str


@dataclass
class Book:
    """A book that the shop sells."""

    title: str
    price: float
    copies: int


@cache
def shop() -> sqlite3.Connection:
    """The database beside the script, with some books and orders at first."""
    # Tools may run in threads.
    connection = sqlite3.connect("shop.db", check_same_thread=False, isolation_level=None)
    connection.executescript(SCHEMA)
    connection.executemany("insert or ignore into books values (?, ?, ?)", BOOKS)
    connection.executemany("insert or ignore into orders values (?, ?, ?, ?, ?)", ORDERS)
    return connection


def find_orders(customer: str) -> list[Order]:
    """The orders of a customer, the last one last."""
    found = shop().execute("select * from orders where customer = ? order by id", [customer])
    return [Order(*row) for row in found]


def get_order(order: int) -> Order:
    """An order by its number."""
    row = shop().execute("select * from orders where id = ?", [order]).fetchone()
    if row is None:
        raise LookupError(f"there is no order {order}")
    return Order(*row)


def find_books(words: str) -> list[Book]:
    """The books with these words in their titles."""
    found = shop().execute("select * from books where title like ?", [f"%{words}%"])
    return [Book(*row) for row in found]


def cancel_order(order: int) -> Order:
    """Cancels an order that was not delivered yet."""
    if get_order(order).state != "paid":
        raise ValueError("only orders that are paid and not delivered can be cancelled")
    shop().execute("update orders set state = 'cancelled' where id = ?", [order])
    return get_order(order)


def refund_order(order: int) -> Order:
    """Pays back the price of an order that was delivered."""
    if get_order(order).state != "delivered":
        raise ValueError("only orders that were delivered can be paid back")
    shop().execute("update orders set state = 'refunded' where id = ?", [order])
    return get_order(order)


def open_ticket(about: str) -> int:
    """Hands a question over to people; gives the number of the ticket."""
    return shop().execute("insert into tickets (about) values (?)", [about]).lastrowid or 0
