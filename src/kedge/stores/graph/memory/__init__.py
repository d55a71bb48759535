"""Graphs in the process's memory: for tests, and as the oracle of the others."""
