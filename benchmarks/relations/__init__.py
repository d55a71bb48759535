"""How many of the relations that sentences state are found, and which triples a folder gives."""
