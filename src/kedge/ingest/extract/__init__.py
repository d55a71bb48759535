"""The concept graph: what passages speak of and how it is related."""
