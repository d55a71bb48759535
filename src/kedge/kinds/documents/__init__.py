"""Documents: files, folders, addresses and corpora become passages."""
