"""Expressions, as Python."""
