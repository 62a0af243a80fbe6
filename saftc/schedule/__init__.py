"""What may run at the same time: facts to a schedule, which the emitter writes."""
