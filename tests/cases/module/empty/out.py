# Compiled by saftc from in.saft; edit that file instead.
