# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

names = [
    "Ada Lovelace",
    "Grace Hopper",
    "Edsger Dijkstra",
    "Barbara Liskov",
    "Donald Knuth",
    "Alan Turing",
]
print(show(names))
