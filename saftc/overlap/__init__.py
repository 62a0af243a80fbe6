"""What may run at the same time, and why something may not."""
