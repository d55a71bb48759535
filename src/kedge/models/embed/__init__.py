"""Embedders: one module per provider, and what they share."""
