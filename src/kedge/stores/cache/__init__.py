"""Caches of embeddings that several processes share."""
