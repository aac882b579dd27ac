"""The step: advection, forces, pressure, solids, on any backend. No OpenGL in it."""
