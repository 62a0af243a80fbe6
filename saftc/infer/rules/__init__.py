"""The typing rules: functions on a shared `Inference`, with a module for each kind of construct.

`units` iterates over a script's functions, `statements` and `expressions` over the nodes in them.
Each other module has the rules for one topic, such as `calls`, `conditions` or `members`.
"""
