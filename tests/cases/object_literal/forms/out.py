# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support.ops import show

empty: dict[str, Any] = {}
one = {"id": 1}
quoted = {"two words": 2, "id": 1}
nested = {"inner": {"id": 1}, "list": [{"id": 2}]}
keywords = {"class": 1, "if_": 2}
print(show(empty), show(one), show(quoted), show(nested), show(keywords))
