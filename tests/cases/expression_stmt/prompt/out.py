# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt

prompt("say hello to {0}", "Ada")
