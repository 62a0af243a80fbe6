"""Statements, as Python."""
