"""The types of all expressions: functions over one `Inference`, a module for each family.

`units` goes through the script, `statements` and `expressions` through a unit; `conditions`,
`calls`, `members`, `loops`, `prompts` and `places` know one thing each.
"""
