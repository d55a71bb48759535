"""Pure functions over text: search terms, sentences, names."""
