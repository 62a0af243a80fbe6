# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt

mail = "I want my money back"
if prompt("is {mail} a complaint?", mail=mail, returns=bool).value:
    print("complaint")
elif not prompt("is {mail} friendly?", mail=mail, returns=bool).value:
    print("neutral")
