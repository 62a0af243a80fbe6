"""Chooses between several Python forms of a construct."""
