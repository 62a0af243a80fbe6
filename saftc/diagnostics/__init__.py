"""Diagnostics: the data, the catalogue of codes, and their rendering."""
