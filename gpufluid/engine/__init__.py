"""The public `Fluid`: what steps it, its fields, what is in it, its states on disk."""
