"""Streamed replies: their pieces, the partial values made from the pieces, and their results."""
