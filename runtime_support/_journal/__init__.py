"""Journals: store the requests, replies and tool calls of a run, so that it can be resumed."""
