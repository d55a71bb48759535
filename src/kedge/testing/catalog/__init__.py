"""The contract of catalogs."""
