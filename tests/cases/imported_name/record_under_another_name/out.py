# Compiled by saftc from in.saft; edit that file instead.
from shapes import Point as Place

n = 2
place = Place(n + 1, y=len("ab") * 3)
same: Place = place
print(place.x, same.y)
