"""The command line: one module per noun, text to stdout, notes to stderr, JSON on request."""
