"""Observability: the trace, the log, the timeline, spans and observers."""
