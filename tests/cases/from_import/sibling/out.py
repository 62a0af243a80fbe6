# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt

from weather import City, Sky
from weather import forecast as look_up

oslo = City("Oslo")
sky: Sky = look_up(oslo)
print(oslo.name, sky + "!")
x = prompt("use {look_up}", look_up=look_up).value
