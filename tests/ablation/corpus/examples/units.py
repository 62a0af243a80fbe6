"""Units, in plain Python: weather_report.saft imports this module."""


def fahrenheit(celsius: float) -> float:
    """A temperature in degrees Fahrenheit."""
    return celsius * 9 / 5 + 32
