"""What all of the engine stands on: errors, checks, vectors, files, memory, signals. Nothing of fluids."""
