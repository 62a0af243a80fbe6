"""The typing rules: functions on a shared `Inference`, with a module for each kind of construct.

`units` iterates over a script's units, `statements` and `expressions` over the nodes of a unit;
`conditions`, `calls`, `members`, `loops`, `prompts` and `places` have the rules for one topic each.
"""
