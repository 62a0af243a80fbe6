"""Assigns table columns to parameters, and checks rows before any request.

    binding = Binding(tool, table, {"mail": "body"}, constants={"tone": "calm"}, columns=["id"])
    binding.arguments({"id": "17", "body": "..."})        {"mail": "..."}
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from runtime_support._core.notes import note
from runtime_support._core.tools import Tool, bind_arguments
from runtime_support._journal.json_lines import Entry
from runtime_support._schema import model as m
from runtime_support._schema.writing import short
from runtime_support._values.kinds import counted
from runtime_support._values.names import did_you_mean, listed
from runtime_support._values.renamed import renamed
from runtime_support.errors import CheckError, ConfigError
from runtime_support.map._columns import columns_of
from runtime_support.map._inputs import LOOKED_AT, Table

ROW = "row"
_MOST_TOLD = 5

# Gets a function that returns the progress line, or "" once the job is over.
Show: TypeAlias = Callable[[Callable[[], str]], object]
Columns: TypeAlias = Literal["all", "none"] | Sequence[str]


class Binding:
    """Assigns a column of the table to each parameter.

    Raises ConfigError if a required parameter has no column.
    """

    def __init__(
        self,
        tool: Tool,
        table: Table,
        rename: Mapping[str, str],
        constants: Mapping[str, Any],
        columns: Columns,
    ) -> None:
        if isinstance(columns, Mapping):
            hint = renamed("columns", "rename")
            raise ConfigError("columns: expected names of columns, got an object", hint=hint)
        self.tool = tool
        self.table = table
        self.constants = dict(constants)
        self.columns = self._find_columns(rename)
        self._checked = 0
        self.keep = self._kept(columns)
        # All values of CSV are strings: an empty one is nil if the parameter allows it.
        self._empty = [
            one.name
            for one in tool.signature.named
            if table.format == "csv" and (not one.required or m.admits_nil(one.schema))
        ]

    @property
    def names(self) -> list[str]:
        """The columns of the table that the function or the output needs."""
        return list(dict.fromkeys([*self.columns.values(), *self.keep]))

    @property
    def copied_columns(self) -> list[str]:
        """The columns to read for the output.

        If no column is copied, there is still one column, so that the rows can be counted.
        """
        return [*self.keep] or list(self.columns.values())[:1]

    def arguments(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments from the values of a row, without the constants."""
        given = {name: values[col] for name, col in self.columns.items() if col in values}
        for name in self._empty:
            if given.get(name) == "":
                given[name] = None
        return given

    def copied_values(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The values of a row that go into the output."""
        return {name: values.get(name) for name in self.keep}

    def check(self, limit: int | None, show: Show | None, *, every: bool) -> None:
        """Raises ConfigError if the function rejects rows of the table.

        With `every`, one rejected row is enough: all rows are checked, or the first `limit`, while
        `show` displays the progress. Without it, all of the first rows must be rejected.
        """
        if every and show is not None:
            show(self._progress)
        told, rejected, count = self._rejected(limit if every else LOOKED_AT)
        if rejected and (every or rejected == count == LOOKED_AT):
            of = "" if every else f" of the first {LOOKED_AT}"
            if rejected > len(told):
                told.append(f"... and {counted(rejected - len(told), 'row')} more{of}")
            raise ConfigError("\n".join(told), hint=self._types())

    def _progress(self) -> str:
        """The progress line of the check. Returns "" once it is over."""
        return f"checked {counted(self._checked, 'row')}" if self._checked else ""

    def _rejected(self, most: int | None) -> tuple[list[str], int, int]:
        """The first problems, the number of rejected rows, and the number of all checked rows."""
        told, rejected, count = list[str](), 0, 0
        for count, row in enumerate(itertools.islice(self.table.rows(self.names), most), 1):
            self._checked = count
            problem = row.problem or self._problem(row.values)
            if problem is not None:
                rejected += 1
                if rejected <= _MOST_TOLD:
                    told.append(f"{self.table.place(row)}: {problem}")
        self._checked = 0
        return told, rejected, count

    def _problem(self, values: Mapping[str, Any]) -> str | None:
        """The reason why the function rejects the values of a row, or None if it accepts them."""
        try:
            bind_arguments(self.tool, {**self.arguments(values), **self.constants})
        except CheckError as error:
            said = error.message.removeprefix("args.")
            name = re.split(r"\W", said, maxsplit=1)[0]
            return self.columns.get(name, name) + said[len(name) :]
        return None

    def identity(self) -> Entry:
        """The parts of the binding that identify the job."""
        return {"columns": self.columns, "constants": self.constants, "keep": self.keep}

    def _types(self) -> str | None:
        """A hint that gives the types of the columns, or None if the table has no types."""
        types = self.table.types
        told = [f"{column}: {types[column]}" for column in self.columns.values() if types]
        return f"the columns are {', '.join(told)}: cast them" if told else None

    def _find_columns(self, rename: Mapping[str, str]) -> dict[str, str]:
        """Maps each parameter that has a column to the name of the column.

        Raises ConfigError for an unknown name, for a required parameter without a column, and if no
        parameter has a column.
        """
        table, tool, found = self.table, self.tool, dict[str, str]()
        parameters = {one.name: one for one in tool.signature.named}
        if twice := rename.keys() & self.constants.keys():
            said = f"`{min(twice)}` has both a value and a column"
            raise ConfigError(said, hint="leave out --set or --rename")
        for name in (*rename, *self.constants):
            if name not in parameters and not tool.signature.open_ended:
                hint = did_you_mean(name, parameters) or f"it has {listed(parameters)}"
                raise ConfigError(f"`{tool.name}` has no parameter `{name}`", hint=hint)
        for name, column in {**{name: name for name in parameters}, **rename}.items():
            parameter = parameters.get(name)
            if name in self.constants:
                continue
            if column in table.columns:
                found[name] = column
                if parameter is not None and isinstance(parameter.schema, m.AnySchema):
                    note(f"`{name}` of `{tool.name}` has no type: it takes any value of its column")
            elif name in rename:
                hint = self._near(column) or self._names()
                raise ConfigError(f"{table.path} has no column `{column}`", hint=hint)
            elif parameter is None or parameter.required:
                wanted = name if parameter is None else f"{name}: {short(parameter.schema)}"
                raise ConfigError(
                    f"`{tool.name}` needs `{wanted}`, and {table.path} has no column `{column}`",
                    hint=self._near(column)
                    or f"{self._names()}; --rename {name}=... names another one",
                )
        if not found:
            raise ConfigError(
                f"`{tool.name}` takes no column of {table.path}: every row would be the same call",
                hint=table.hint
                or "a parameter takes the column of its name, or --rename PARAMETER=COLUMN names "
                f"one: {listed(table.columns)}",
            )
        return found

    def _near(self, name: str) -> str | None:
        return self.table.hint or did_you_mean(name, self.table.columns)

    def _names(self) -> str:
        return f"its columns are {listed(self.table.columns)}"

    def _kept(self, columns: Columns) -> list[str]:
        table, result = self.table, columns_of(self.tool.signature.returns)
        if ROW in result:
            raise ConfigError(
                f"the result of `{self.tool.name}` has a field `{ROW}`, and `{ROW}` is the number "
                "of the row in the output",
                hint=f"give the field another name, such as `{ROW}_number`",
            )
        if columns == "none":
            return []
        wanted = list(table.columns) if columns == "all" else list(columns)
        for name in wanted:
            if name not in table.columns:
                hint = self._near(name) or self._names()
                raise ConfigError(f"columns: {table.path} has no column `{name}`", hint=hint)
            if name in result or name == ROW:
                field = f"a field of what `{self.tool.name}` gives"
                what = "the number of the row" if name == ROW else field
                raise ConfigError(
                    f"the column `{name}` of {table.path} has the name of {what}",
                    hint="--columns names the columns that go into the output, or none",
                )
        return wanted
