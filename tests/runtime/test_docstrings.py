"""The examples in docstrings, those after `>>>`, give what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import runtime_support

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
