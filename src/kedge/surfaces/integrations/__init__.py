"""Retrievers for other frameworks, each in a module that needs only its framework."""
