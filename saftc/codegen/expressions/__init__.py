"""Emits expressions as Python."""
