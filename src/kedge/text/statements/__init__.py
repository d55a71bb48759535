"""Statements: the unit of evidence, what can be read, judged and cited, each with its exact place in a passage."""
