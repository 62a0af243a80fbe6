"""Journals: what a run has asked and was answered, kept so that it survives."""
