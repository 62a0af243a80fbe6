"""Replies that come in pieces, and what is made of these."""
