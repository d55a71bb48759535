"""Measures of retrieval and answers over labelled sets."""
