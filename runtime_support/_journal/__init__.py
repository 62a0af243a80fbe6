"""Journals: the requests, replies and tool calls of a run, on disk so that it can be resumed."""
