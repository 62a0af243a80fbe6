# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import Result, prompt
from runtime_support.ops import show

story: Result[str] | str
story = prompt("A story in {0} words.", 3)
print(show(story.tool_calls))
story = story.value + "!"
story += prompt("How does {story} end?", story=story).value
count = prompt("How long is {story}?", story=story, returns=int).value
count += 1
print(story, count)
