"""Readings of the tables of a session: loaded whole, or of some rows and run over all."""
