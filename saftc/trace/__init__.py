"""Shows runs: as timelines, and from their journals."""
