"""Parsers: a source of one format to the segments of a `ParsedDocument`."""
