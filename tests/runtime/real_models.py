"""Twenty models as projects have them: nested, in unions, constrained, with aliases and Enums."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from ipaddress import IPv4Address
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar
from uuid import UUID

import annotated_types as at
from pydantic import (
    AliasChoices,
    AnyUrl,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    EmailStr,
    Field,
    HttpUrl,
    NonNegativeFloat,
    PositiveInt,
    RootModel,
    StringConstraints,
    conint,
    conlist,
    constr,
    field_validator,
)
from pydantic.alias_generators import to_camel


class Priority(StrEnum):
    low = "low"
    normal = "normal"
    high = "high"


class Severity(IntEnum):
    minor = 1
    major = 2


class Currency(Enum):
    eur = "EUR"
    usd = "USD"


Sku = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}-\d{4}$")]
Percentage = Annotated[float, at.Interval(ge=0, le=100)]


class Address(BaseModel):
    """Where somebody lives."""

    street: str = Field(min_length=1, max_length=120)
    city: str
    zip_code: str = Field(pattern=r"^\d{5}$", examples=["10115"])
    country: str = Field(default="DE", min_length=2, max_length=2, description="ISO 3166")


class Customer(BaseModel):
    """A customer as the shop knows them."""

    id: UUID
    email: EmailStr
    name: Annotated[str, Field(min_length=1)]
    born: date | None = None
    address: Address
    billing: Address | None = Field(default=None, description="If it is another one")
    tags: list[str] = []


class LineItem(BaseModel):
    sku: Sku
    quantity: PositiveInt = 1
    price: Decimal = Field(gt=0, max_digits=10, decimal_places=2)
    discount: Percentage = 0.0


class Order(BaseModel):
    number: str = Field(description="As printed", examples=["A-7", "B-12"])
    lines: Annotated[list[LineItem], Field(min_length=1, max_length=100)]
    placed_at: datetime
    due: date
    currency: Currency = Currency.eur
    priority: Priority = Priority.normal

    @field_validator("number")
    @classmethod
    def no_blanks(cls, value: str) -> str:
        return value.strip()


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: conint(ge=0, le=9) = 9  # pyright: ignore[reportInvalidTypeForm]


class Dog(BaseModel):
    kind: Literal["dog"]
    breed: constr(to_lower=True, min_length=2)  # pyright: ignore[reportInvalidTypeForm]


class Household(BaseModel):
    pets: list[Annotated[Cat | Dog, Field(discriminator="kind")]]
    favourite: Cat | Dog | None = Field(default=None, discriminator="kind")


class CamelCased(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    first_name: str
    last_login: AwareDatetime | None = None
    is_active: bool = True


class Aliased(BaseModel):
    user_id: int = Field(alias="userId", gt=0)
    nick: str = Field(validation_alias=AliasChoices("nickname", "nick"), max_length=30)
    from_: str = Field(alias="from")


class Event(BaseModel):
    starts: datetime = Field(description="With its offset")
    lasts: timedelta = timedelta(hours=1)
    doors: time | None = None
    remind: list[timedelta] = Field(default_factory=list, max_length=3)


class Comment(BaseModel):
    author: str
    text: str = Field(max_length=2_000)
    replies: list[Comment] = Field(default_factory=list, description="The newest last")


class Ticket(BaseModel):
    """A mail, sorted."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"severity": 2, "score": 0.5, "labels": ["bug"]}]}
    )

    severity: Severity
    score: float = Field(ge=0, lt=1, description="How sure you are")
    labels: set[Literal["bug", "question", "praise"]] = Field(min_length=1)
    step: int = Field(default=5, multiple_of=5)
    answer: str | None = Field(default=None, max_length=500)


class Settings(BaseModel):
    host: IPv4Address
    homepage: HttpUrl
    docs: AnyUrl | None = None
    folder: Path = Path("data")
    ratio: NonNegativeFloat = 1.0


class Measurement(BaseModel):
    values: conlist(float, min_length=2, max_length=10)  # pyright: ignore[reportInvalidTypeForm]
    unit: Literal["kg", "g"] = "kg"
    taken: Annotated[date, Field(description="The day")]
    note: Annotated[str, Field(max_length=80)] | None = None


T = TypeVar("T")


class Page(BaseModel, Generic[T]):
    items: list[T]
    total: int = Field(ge=0)
    next: str | None = None


class Invoice(BaseModel):
    vendor: str
    net: Decimal
    rate: Literal[0, 7, 19]
    lines: list[tuple[str, Decimal]] = Field(min_length=1)


class Scores(BaseModel):
    by_name: dict[str, Annotated[int, Field(ge=0)]]
    by_priority: dict[Priority, float] = {}
    extra: Any = None


class Codes(RootModel[list[Annotated[str, Field(pattern="^[a-z]+$")]]]):
    """Short names of countries"""


class Visits(RootModel[dict[date, Annotated[int, Field(ge=0)]]]):
    pass


class Age(RootModel[Annotated[int, Field(ge=0, le=150)]]):
    root: Annotated[int, Field(ge=0, le=150)] = Field(description="In years", examples=[41])


class Folder(RootModel[dict[str, "Folder | str"]]):
    pass


class Calendar(BaseModel):
    codes: Codes
    visits: Visits | None = None
    closed: dict[date, list[str]] = {}
    levels: dict[Priority, Visits]


class Inherited(LineItem):
    """A line with a note."""

    note: str = Field(default="", max_length=40)


class Mixed(BaseModel):
    answer: int | str | list[int] = Field(description="Whatever it is")
    maybe: bool | None
    codes: list[Annotated[str, Field(pattern="^[a-z]+$", min_length=2)]] = ["aa"]
    version: Literal[1] = 1


class Person(BaseModel):
    age: Annotated[int, at.Ge(0), at.Le(150)]
    height: Annotated[float, at.Gt(0)] | None = None
    phones: list[Annotated[str, StringConstraints(min_length=3, max_length=20)]]
    employer: Annotated[str, at.Len(1, 80)] = Field("none", description="Where they work")


class Team(BaseModel):
    lead: Person = Field(description="Who decides")
    members: list[Person] = Field(min_length=1)
    founded: date = Field(ge=date(1900, 1, 1))


class Report(BaseModel):
    customers: Page[Customer]
    open_orders: list[Order]
    threads: list[Comment] = []


MODELS: tuple[type[BaseModel], ...] = (
    *(Address, Customer, LineItem, Order, Household, CamelCased, Aliased, Event, Comment, Ticket),
    *(
        Settings,
        Measurement,
        Page[Address],
        Invoice,
        Scores,
        *(Calendar, Codes, Visits, Age, Folder, RootModel[list[LineItem]]),
        Inherited,
        Mixed,
        Person,
        Team,
        Report,
    ),
)
