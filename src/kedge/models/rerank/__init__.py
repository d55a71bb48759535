"""Rerankers: one module per provider."""
