"""Plans: what they are, as JSON, as text, as SQL, run, and put into words."""
