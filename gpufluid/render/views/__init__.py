"""The flow made visible: particles, lines, arrows, planes, surfaces, charts, and what they share."""
