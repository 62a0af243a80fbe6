# Compiled by saftc from in.saft; edit that file instead.
import weather as w
import weather

print(weather.forecast("Oslo") + "!", w.limit + 1)
