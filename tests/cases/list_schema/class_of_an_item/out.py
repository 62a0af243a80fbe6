# Compiled by saftc from in.saft; edit that file instead.
from typing import TypedDict

from runtime_support import prompt, show


class Movie(TypedDict):
    title: str


movies = prompt("three movies", returns=list[Movie]).value


class Status(TypedDict):
    code: int


statuses = prompt("all statuses", returns=list[Status]).value


class Cookie(TypedDict):
    name: str


cookies = prompt("all cookies", returns=list[Cookie]).value


class House(TypedDict):
    street: str


houses = prompt("all houses", returns=list[House]).value


class UserCache(TypedDict):
    path: str


user_caches = prompt("all caches", returns=list[UserCache]).value


class City(TypedDict):
    country: str


cities = prompt("all cities", returns=list[City]).value


class Box(TypedDict):
    width: int


boxes = prompt("all boxes", returns=list[Box]).value


class Database(TypedDict):
    url: str


databases = prompt("all databases", returns=list[Database]).value


class Person(TypedDict):
    age: int


people = prompt("all people", returns=list[Person]).value


class NewsItem(TypedDict):
    text: str


news = prompt("the news", returns=list[NewsItem]).value


class BusItem(TypedDict):
    line: str


bus = prompt("the lines", returns=list[BusItem]).value
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
