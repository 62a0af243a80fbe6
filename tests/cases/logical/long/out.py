# Compiled by saftc from in.saft; edit that file instead.

first_condition_of_the_rule = True
second_condition_of_the_rule = False
third_condition_of_the_rule = True
if (
    first_condition_of_the_rule
    and second_condition_of_the_rule
    or third_condition_of_the_rule
):
    print("yes")
result = (
    first_condition_of_the_rule
    and second_condition_of_the_rule
    or third_condition_of_the_rule
    and True
)
