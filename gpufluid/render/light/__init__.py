"""Light in the box: the sun, lamps, fire and sky, and the shadows that smoke and solids throw."""
