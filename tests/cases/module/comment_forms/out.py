# Compiled by saftc from in.saft; edit that file instead.

# no space
#   three spaces
# trailing space
# four slashes
#
# ! bang
# # hash
x = 1  # no space either
