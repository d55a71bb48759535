"""Who is let in: keys of the catalog, and tokens of an OpenID Connect issuer."""
