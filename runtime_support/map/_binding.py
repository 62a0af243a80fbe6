"""Columns to parameters, and what of that cannot be: found before anything is asked.

binding = Binding(tool, table, {"mail": "body"}, constants={"tone": "calm"}, columns=["id"])
binding.arguments({"id": "17", "body": "..."})        {"mail": "..."}
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from runtime_support._names import did_you_mean, listed
from runtime_support._notes import note
from runtime_support._renamed import renamed
from runtime_support._schema import model as m
from runtime_support._schema.reading import Parameter
from runtime_support._schema.writing import short
from runtime_support._tools import Tool, bind_arguments
from runtime_support._values import counted
from runtime_support.errors import CheckError, ConfigError
from runtime_support.map._columns import columns_of
from runtime_support.map._inputs import LOOKED_AT, Table
from runtime_support.runs._lines import Entry

ROW = "row"
_MOST_TOLD = 5

Columns: TypeAlias = Literal["all", "none"] | Sequence[str]


class Binding:
    """Which column each parameter takes; ConfigError when one of them has none."""

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
        self.columns: dict[str, str] = {}
        parameters = {one.name: one for one in tool.signature.named}
        for name in (*rename, *constants):
            if name not in parameters and not tool.signature.open_ended:
                hint = did_you_mean(name, parameters) or f"it has {listed(parameters)}"
                raise ConfigError(f"`{tool.name}` has no parameter `{name}`", hint=hint)
        for name, parameter in parameters.items():
            column = rename.get(name, name)
            if name in constants:
                continue
            if column in table.columns:
                self.columns[name] = column
            elif parameter.required or name in rename:
                wanted = f"{name}: {short(parameter.schema)}"
                raise self._without_column(name, column, wanted)
            if isinstance(parameter.schema, m.AnySchema):
                note(f"`{name}` of `{tool.name}` has no type: it takes any value of its column")
        for name, column in rename.items():
            if name in parameters:
                continue
            if column not in table.columns:  # of a function that takes any others, too
                raise self._without_column(name, column)
            self.columns[name] = column
        if not self.columns:
            raise self._takes_nothing(list(parameters))
        self.keep = self._kept(columns)
        # CSV holds texts alone: an empty one is nil, where the parameter allows that.
        self._empty = {
            name
            for name in self.columns
            if table.format == "csv" and name in parameters and _may_be_missing(parameters[name])
        }

    @property
    def names(self) -> list[str]:
        """The columns of the table that are needed."""
        return list(dict.fromkeys([*self.columns.values(), *self.keep]))

    @property
    def kept_names(self) -> list[str]:
        """Those that are kept; one where none is, as the number of rows would be unknown."""
        return [*self.keep] or list(self.columns.values())[:1]

    def arguments(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments that a row is, without the constants."""
        given = {name: values[col] for name, col in self.columns.items() if col in values}
        for name in self._empty:
            if given.get(name) == "":
                given[name] = None
        return given

    def kept(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """What is kept of a row."""
        return {name: values.get(name) for name in self.keep}

    def check(self, *, every: bool) -> None:
        """ConfigError when rows among the first do not fit: some, if `every` row is to, or all."""
        found: list[str] = []
        count = 0
        for row in itertools.islice(self.table.rows(self.names), LOOKED_AT):
            count += 1
            problem = row.problem
            if problem is None:
                try:
                    bind_arguments(self.tool, {**self.arguments(row.values), **self.constants})
                    continue
                except CheckError as error:
                    problem = error.message.removeprefix("args.")
            found.append(f"{self.table.place(row)}: {problem}")
        if found and (every or len(found) == count == LOOKED_AT):
            shown = found[:_MOST_TOLD]
            if len(found) > len(shown):
                others = counted(len(found) - len(shown), "row")
                shown.append(f"... and {others} more of the first {LOOKED_AT}")
            raise ConfigError("\n".join(shown), hint=self._types())

    def identity(self) -> Entry:
        """What of it makes the job another one."""
        return {"columns": self.columns, "constants": self.constants, "keep": self.keep}

    def _types(self) -> str | None:
        """What the columns hold, where the file says so."""
        types = self.table.types
        told = [f"{column}: {types[column]}" for column in self.columns.values() if types]
        return f"the columns are {', '.join(told)}: cast them" if told else None

    def _takes_nothing(self, parameters: list[str]) -> ConfigError:
        """Why all rows would be the same call."""
        columns = listed(self.table.columns)
        if self.table.hint:
            hint = self.table.hint
        elif parameters:
            hint = f"its columns are {columns}; --rename {parameters[0]}=... names one of them"
        else:
            hint = f"a parameter takes the column of its name: {columns}"
        return ConfigError(
            f"`{self.tool.name}` takes no column of {self.table.path}: every row would be the same "
            "call",
            hint=hint,
        )

    def _without_column(self, name: str, column: str, wanted: str | None = None) -> ConfigError:
        wanted = wanted or name
        lacks = f"{self.table.path} has no column `{column}`"
        names = f"its columns are {listed(self.table.columns)}"
        hint = f"--rename {name}=... names another one"
        near = self.table.hint or did_you_mean(column, self.table.columns)
        return ConfigError(
            f"`{self.tool.name}` needs `{wanted}`, and {lacks}", hint=near or f"{names}; {hint}"
        )

    def _kept(self, columns: Columns) -> list[str]:
        result = columns_of(self.tool.signature.returns)
        if ROW in result:
            raise ConfigError(
                f"what `{self.tool.name}` gives has a field `{ROW}`, and `{ROW}` is the number of "
                "the row in the output",
                hint=f"give the field another name, such as `{ROW}_number`",
            )
        if columns == "none":
            return []
        wanted = list(self.table.columns) if columns == "all" else list(columns)
        for name in wanted:
            if name not in self.table.columns:
                near = did_you_mean(name, self.table.columns)
                hint = near or f"its columns are {listed(self.table.columns)}"
                raise ConfigError(f"columns: {self.table.path} has no column `{name}`", hint=hint)
        for name in wanted:
            if name in result or name == ROW:
                field = f"a field of what `{self.tool.name}` gives"
                what = "the number of the row" if name == ROW else field
                raise ConfigError(
                    f"the column `{name}` of {self.table.path} has the name of {what}",
                    hint="--columns names the columns that go into the output, or none",
                )
        return wanted


def _may_be_missing(parameter: Parameter) -> bool:
    return not parameter.required or m.admits_nil(parameter.schema)
