"""Answers that are computed from tables inside documents, by the same readings as tables of their own."""
