"""What a user says: the box, its sides, what is in it, settings, looks. Plain data and NumPy."""
