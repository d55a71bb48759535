"""Benchmarks: each isolates one thing and measures it against a control in the same run. See README.md."""
