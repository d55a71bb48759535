"""The way out, first half: channels find passages, fusion and reranking put them in order."""
