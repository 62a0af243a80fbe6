"""Decides which code may run at the same time, and explains why other code may not."""
