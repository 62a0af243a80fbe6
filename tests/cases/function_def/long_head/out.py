# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show


def build_a_very_long_function_name(
    first_parameter: str, second_parameter: list[int], third_parameter: float = 1.0
) -> str:
    return first_parameter + show(second_parameter) + str(third_parameter)


print(build_a_very_long_function_name("a", [1]))
