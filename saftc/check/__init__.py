"""Name resolution, and the checks that need no types."""
