"""noumena."""
