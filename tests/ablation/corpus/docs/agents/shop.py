import sqlite3
from dataclasses import dataclass

db = sqlite3.connect("shop.db", check_same_thread=False)
db.execute("create table if not exists orders (id integer primary key, book text, state text)")
if not db.execute("select 1 from orders").fetchone():
    db.execute("insert into orders (book, state) values ('Emma', 'sent'), ('Dracula', 'paid')")
    db.commit()


@dataclass
class Order:
    id: int
    book: str
    state: str


def find_orders(book: str) -> list[Order]:
    """The orders of a book, by words of its title."""
    rows = db.execute("select id, book, state from orders where book like ?", (f"%{book}%",))
    return [Order(*row) for row in rows]


def cancel_order(id: int) -> str:
    """Cancels an order that is not sent yet."""
    changed = db.execute("update orders set state = 'cancelled' where id = ? and state = 'paid'", (id,))
    db.commit()
    if not changed.rowcount:
        raise ValueError(f"order {id} is sent already, or there is none")
    return f"order {id} is cancelled"
