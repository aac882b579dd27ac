"""The studio: a panel beside the picture for everything in a scene, and hands that reach into it."""
