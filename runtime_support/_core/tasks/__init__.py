"""Calls that run ahead of their turn: their queue, the workers that run them, and their waits."""
