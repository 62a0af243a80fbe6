"""The docstrings of public names are complete; their examples, after `>>>`, give what they say."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from dataclasses import fields

import pytest

import runtime_support
from runtime_support import Settings, prompt

MODULES = [
    module.name for module in pkgutil.walk_packages(runtime_support.__path__, "runtime_support.")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_the_leaf_layer_has_examples() -> None:
    plain = ("_jsontext", "_media", "_names", "_tables", "_values")
    for name in (*plain, "_language.builtins", "_language.operators"):
        module = importlib.import_module(f"runtime_support.{name}")
        assert doctest.testmod(module).attempted > 0


def test_every_public_name_is_described() -> None:
    for name in runtime_support.__all__:
        assert inspect.getdoc(getattr(runtime_support, name)), name


def test_every_parameter_of_a_prompt_is_described() -> None:
    described = inspect.getdoc(type(prompt).__call__) or ""
    parameters = set(inspect.signature(prompt).parameters) - {"values", "names"}
    assert {one for one in parameters if f"- `{one}`:" not in described} == set()


def test_every_setting_is_described() -> None:
    described = inspect.getdoc(Settings) or ""
    assert {one.name for one in fields(Settings) if f"`{one.name}`" not in described} == set()
