# Compiled by saftc from in.saft; edit that file instead.

text = "a string that is longer than a line of the output may be, which black leaves as it is, and so do we"
print(text)
