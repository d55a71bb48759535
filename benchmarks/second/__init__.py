"""The chain reader: which of the passages found for a question are steps of its answer. See benchmarks/README.md."""
