"""What the chat may look up; each waits, so calls of one reply run at the same time."""

import asyncio


async def temperature(city: str) -> float:
    """The temperature in a city, in degrees Celsius."""
    await asyncio.sleep(0)  # a request to a service would stand here
    return {"Oslo": 3.5, "Cairo": 30.0}.get(city, 15.0)


async def wind(city: str) -> float:
    """The wind in a city, in metres per second."""
    await asyncio.sleep(0)
    return {"Oslo": 7.0, "Cairo": 2.0}.get(city, 4.0)
