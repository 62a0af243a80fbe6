"""What the commands of `saftc` do, a module each; `saftc.cli` reads their arguments."""
