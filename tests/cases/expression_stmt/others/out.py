# Compiled by saftc from in.saft; edit that file instead.

1 + 2
pass
pass
"a".upper()
