from typing import Annotated

from pydantic import BaseModel, Field, RootModel


class Codes(RootModel[list[Annotated[str, Field(pattern="^[a-z]+$")]]]):
    """Short names of countries"""

    def first(self) -> str:
        return self.root[0]


class European(Codes):
    pass


class Age(RootModel[int]):
    root: int = Field(ge=0)


class City(BaseModel):
    name: str


class Cities(RootModel[dict[str, City]]):
    pass


def cities_of(codes: Codes) -> Cities:
    """Cities by their names."""
    return Cities({one: City(name=one) for one in codes.root})
