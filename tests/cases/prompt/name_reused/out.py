# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt

topic = "a"
x = prompt("{topic} {topic:raw} {0} {1}", topic + "b", topic + "b", topic=topic).value
