"""Plain questions over a small folder of a team's notes: `python -m benchmarks.notes`."""
