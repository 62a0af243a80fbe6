"""Emits the statements of a script as Python statements."""
