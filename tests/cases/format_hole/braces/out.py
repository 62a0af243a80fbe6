# Compiled by saftc from in.saft; edit that file instead.

x = 1
print(f"{{x}} {{{x}}} {x}}}", "{}", f"{[1, 2][0]}")
