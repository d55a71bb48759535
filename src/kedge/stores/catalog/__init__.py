"""The catalog, the truth about documents, passages, jobs and collections."""
