"""Vector stores: search by meaning and by words, a folder per vendor."""
