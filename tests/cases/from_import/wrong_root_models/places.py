from pydantic import RootModel


class Codes(RootModel[list[str]]):
    pass
