"""Models that embed, rerank, read and write, each provider in a module behind a port."""
