"""Is the verdict right? Random settings, what the verdict says of each, and what training finds."""
