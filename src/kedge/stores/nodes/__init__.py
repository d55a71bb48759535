"""Users' own graphs: the port, and one module per store."""
