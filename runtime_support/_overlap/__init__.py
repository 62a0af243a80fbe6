"""Calls that run ahead of their turn, and mean what they mean one after the other."""
