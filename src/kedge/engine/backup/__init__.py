"""Backups: one file that holds everything of a home, taken while it is in use, and put back as a whole."""
