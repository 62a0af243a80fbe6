# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict

from runtime_support import later, prompt, together
from runtime_support.ops import show


class Movie(TypedDict):
    title: str


class Status(TypedDict):
    code: int


class Cookie(TypedDict):
    name: str


class House(TypedDict):
    street: str


class UserCache(TypedDict):
    path: str


class City(TypedDict):
    country: str


class Box(TypedDict):
    width: int


class Database(TypedDict):
    url: str


movies, statuses, cookies, houses, user_caches, cities, boxes, databases = together(
    later(prompt, "three movies", returns=list[Movie]),
    later(prompt, "all statuses", returns=list[Status]),
    later(prompt, "all cookies", returns=list[Cookie]),
    later(prompt, "all houses", returns=list[House]),
    later(prompt, "all caches", returns=list[UserCache]),
    later(prompt, "all cities", returns=list[City]),
    later(prompt, "all boxes", returns=list[Box]),
    later(prompt, "all databases", returns=list[Database]),
)


class Person(TypedDict):
    age: int


class NewsItem(TypedDict):
    text: str


class BusItem(TypedDict):
    line: str


people, news, bus = together(
    later(prompt, "all people", returns=list[Person]),
    later(prompt, "the news", returns=list[NewsItem]),
    later(prompt, "the lines", returns=list[BusItem]),
)
print(
    show(movies),
    show(statuses),
    show(cookies),
    show(houses),
    show(user_caches),
    show(cities),
    show(boxes),
    show(databases),
    show(people),
    show(news),
    show(bus),
)
