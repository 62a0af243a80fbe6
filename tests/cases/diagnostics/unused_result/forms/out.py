# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt

prompt("say hello")
x = prompt("used").value
print(x)
