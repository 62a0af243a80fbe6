"""Reads replies, arguments and cells. `replies` has the functions that others call."""
