# Compiled by saftc from in.saft; edit that file instead.
from typing import Annotated, Literal

from runtime_support import prompt

Label = Annotated[Literal["bug", "question"], "What a mail is about."]

x: Label = prompt("which?", returns=Label).value
