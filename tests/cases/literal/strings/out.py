# Compiled by saftc from in.saft; edit that file instead.

print("plain")
print("with \"quotes\" and 'single'")
print("tab\tnewline\nreturn\rback\\slash")
print("unicode é 中 😀")
print("é 中 😀")
print("")
print("{braces} and $ dollar and // no comment")
print("\x00\x07")
