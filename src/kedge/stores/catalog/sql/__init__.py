"""The catalog on SQLite and PostgreSQL."""
