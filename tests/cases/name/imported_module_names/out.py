# Compiled by saftc from in.saft; edit that file instead.
import os

os_ = "linux"
home = os.environ.get("HOME", "none")
print(os_, home)
