"""Which code may run at the same time, and why other code may not."""
