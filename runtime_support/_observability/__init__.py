"""Who looks on at prompts: the trace, the log, the timeline, spans, observers."""
