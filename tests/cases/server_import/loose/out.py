# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support.mcp import server
from runtime_support.ops import show

loose = server("loose")


def baddef(n: int | None = None) -> Any:
    """Does baddef."""
    return loose.call("baddef", n=n)


def floatdef(n: int = 10, m: float = 5.0) -> Any:
    """Does floatdef."""
    return loose.call("floatdef", n=n, m=m)


def reqextra(p: str, zz: Any) -> Any:
    """required not in properties"""
    return loose.call("reqextra", p=p, zz=zz)


def rootone(p: str | None = None, q: str | None = None) -> Any:
    """root oneOf

    (as JSON Schema {"oneOf": [{"required": ["p"]}, {"required": ["q"]}]})
    """
    return loose.call("rootone", p=p, q=q)


def free() -> Any:
    """free args

    (as JSON Schema {"additionalProperties": {"type": "integer"}})
    """
    return loose.call("free")


def boolprop(y: Any, x: Any = None) -> Any:
    """Does boolprop."""
    return loose.call("boolprop", y=y, x=x)


print(
    show(baddef()),
    show(floatdef()),
    show(reqextra("p", [1])),
    show(rootone(q="b")),
    show(free()),
    show(boolprop(None)),
)
