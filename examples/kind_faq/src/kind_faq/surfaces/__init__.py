"""What the kind adds to the command line, the server, the clients and the blocking facade."""
