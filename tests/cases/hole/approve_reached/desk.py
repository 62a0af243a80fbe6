def close(order: str) -> str:
    """Closes an order."""
    return f"{order} is closed"
