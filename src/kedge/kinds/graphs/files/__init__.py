"""Files that hold graphs, read as nodes and edges."""
