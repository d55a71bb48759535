"""What tables add to the command line, the server, the client and `Kedge`."""
