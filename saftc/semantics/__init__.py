"""From the tree to facts about it: names and scopes, types, checks. Nodes stay as they are."""
