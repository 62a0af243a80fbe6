# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import check, parse, show
from shapes import Point, far, origin

point = origin()
print(point.x + point.y)
print(show(far(check(parse("{}"), Point))))
points = []
points = points + [point]
print(points[0].x)
