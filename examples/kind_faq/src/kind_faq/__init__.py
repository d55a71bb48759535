"""Questions with their answers: a kind of knowledge that Kedge finds by entry point."""
