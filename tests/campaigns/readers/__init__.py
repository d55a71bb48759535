"""Whoever asks gets what a home would give that holds only what they may read."""
