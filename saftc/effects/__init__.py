"""What evaluating something may do: effects, failures, waits."""
