[(function_def) (if_stmt) (elif_branch) (else_branch) (for_stmt) (while_stmt) (try_stmt) (record_def) (prompt)] @fold
