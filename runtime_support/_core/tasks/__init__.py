"""Calls that run ahead of their turn: the queue, who works on it, and what waits."""
