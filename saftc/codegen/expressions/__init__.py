"""Emits the expressions of a script as Python expressions."""
