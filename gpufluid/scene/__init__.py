"""Scenes: fluids with a camera, light and a story; their files, read and written."""
