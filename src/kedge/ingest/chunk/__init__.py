"""Texts are cut into passages."""
