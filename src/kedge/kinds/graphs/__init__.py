"""Property graphs: reading files of nodes and edges, finding nodes in questions, and walking typed paths to answers."""
