# Compiled by saftc from in.saft; edit that file instead.

text = "A text of eighty-odd columns, which is nearly as long as the line that holds it, see"
print(text)
