"""Using the engine: the window, films, the command line."""
