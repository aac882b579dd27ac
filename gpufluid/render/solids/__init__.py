"""Solids in a picture: their triangles, how they are drawn, and how they move between frames."""
