"""Time and memory, as ratios to plain implementations measured in the same run."""
