"""What evaluating code may do: effects, failures, waits."""
