# Compiled by saftc from in.saft; edit that file instead.
import weather
import weather as w

print(weather.forecast("Oslo") + "!", w.limit + 1)
