"""The names of annotations, for the modules that a script without prompts imports.

Importing typing takes as long as starting Python. Type checkers see the real names here; at run
time they are asked for only when a builtin becomes a tool, and these say the same of its arguments.
The price: `get_type_hints` of a function with `TypeGuard[...]` or `Callable[...]` is a TypeError.
"""

from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable as Callable
    from collections.abc import Generator as Generator
    from collections.abc import Iterable as Iterable
    from collections.abc import Iterator as Iterator
    from collections.abc import Mapping as Mapping
    from collections.abc import Sequence as Sequence
    from typing import Any as Any
    from typing import ClassVar as ClassVar
    from typing import NoReturn as NoReturn
    from typing import TypeAlias as TypeAlias
    from typing import TypeGuard as TypeGuard
else:
    Any = Callable = ClassVar = NoReturn = TypeAlias = TypeGuard = object
    Generator = Iterable = Iterator = Sequence = list
    Mapping = dict
