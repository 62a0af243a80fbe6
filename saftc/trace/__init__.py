"""Shows runs, from their events or journals: as text, timelines and scores."""
