"""The way in: sources are found, parsed, cut into passages, searched for concepts and written."""
