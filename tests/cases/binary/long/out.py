# Compiled by saftc from in.saft; edit that file instead.

total_of_the_first_quarter = 1
total_of_the_second_quarter = 2
total = (
    total_of_the_first_quarter
    + total_of_the_second_quarter * total_of_the_first_quarter
    - 1
)
print(total)
