"""The pages of `saftc explain`, which explain the codes of diagnostics.

Each code has a page, `diagnostics/pages/SAFT0203.md`: a title, the meaning, a wrong script with its
diagnostic, and a correct script.
"""

import re

from saftc.diagnostics.catalogue import BY_NUMBER, PAGES
from saftc.diagnostics.model import Code

_NUMBER = re.compile(r"(?:saft)?0*([0-9]{1,4})", re.IGNORECASE)


class UnknownCode(Exception):
    """Raised for a code that no diagnostic has.

    The message names the nearest code, if it is close.
    """


def page(code: str) -> str:
    """Returns the page of `code`, which may be given as `SAFT0203`, `saft0203` or `203`."""
    return _read(_code(code))


def title(code: Code) -> str:
    """Returns the title of a code's page."""
    return _read(code).partition("\n")[0].partition(": ")[2]


def index() -> str:
    """Returns a text with all codes and their titles, one code per line."""
    codes = sorted(BY_NUMBER.values(), key=lambda code: code.number)
    return "".join(f"{code.number}  {code.severity:7}  {title(code)}\n" for code in codes)


def _code(text: str) -> Code:
    match = _NUMBER.fullmatch(text.strip())
    if match is None:
        raise UnknownCode(f"`{text}` is not a code such as SAFT0203; `saftc explain` lists them")
    asked = int(match[1])
    nearest = min(BY_NUMBER.values(), key=lambda code: abs(int(code.number[4:]) - asked))
    distance = abs(int(nearest.number[4:]) - asked)
    if distance == 0:
        return nearest
    hint = "`saftc explain` lists them"
    if distance < 100:
        hint = f"the nearest is {nearest.number}, {title(nearest)}"
    raise UnknownCode(f"there is no code SAFT{asked:04}; {hint}")


def _read(code: Code) -> str:
    return (PAGES / f"{code.number}.md").read_text(encoding="utf-8")
