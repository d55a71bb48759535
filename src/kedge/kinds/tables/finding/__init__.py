"""Rows by meaning and by words: the index and its search."""
