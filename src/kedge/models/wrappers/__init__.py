"""What can be put around any embedder: a cache, a clock."""
