"""Pictures and films on disk: nothing half-written, nothing overwritten unasked."""
