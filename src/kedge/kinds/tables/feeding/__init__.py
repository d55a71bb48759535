"""From files to rows: read, cleaned, told, built, changed, exported."""
