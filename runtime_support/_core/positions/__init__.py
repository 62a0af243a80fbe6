"""Positions in scripts: frames, source maps, uncaught errors."""
