"""Trains the choice among readings of questions over small tables, and says how well it does on tables kept out."""
