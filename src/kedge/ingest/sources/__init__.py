"""Where documents come from: files, folders, addresses, corpora and uploads."""
