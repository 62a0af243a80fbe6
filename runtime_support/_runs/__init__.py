"""What belongs to a whole run, and not to one prompt: what it has spent, and its budget."""
