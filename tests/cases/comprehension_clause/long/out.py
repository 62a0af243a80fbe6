# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

first_list_of_numbers = [1, 2]
second_list_of_numbers = [3, 4]
products = [
    first * second
    for first in first_list_of_numbers
    if first > 1
    for second in second_list_of_numbers
    if second < 4
]
print(show(products))
