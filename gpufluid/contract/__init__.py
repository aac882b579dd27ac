"""What a backend is asked for: kernels by name, fields and their layout, what passes cost."""
