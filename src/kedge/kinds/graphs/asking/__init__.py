"""Questions to a graph: nodes named, paths matched, answers written."""
