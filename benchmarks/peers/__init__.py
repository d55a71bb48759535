"""Kedge beside its peers: same texts, same embedder, same top k, one run. See benchmarks/README.md."""
