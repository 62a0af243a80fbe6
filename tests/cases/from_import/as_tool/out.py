# Compiled by saftc from in.saft; edit that file instead.
from math import sqrt as root
from textwrap import dedent

from runtime_support import prompt

x = prompt("use {dedent} and {root}", dedent=dedent, root=root).value
