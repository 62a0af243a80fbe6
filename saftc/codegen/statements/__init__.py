"""Emits statements as Python."""
