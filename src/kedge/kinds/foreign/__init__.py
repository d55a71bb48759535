"""Texts and vectors that another program keeps, searched and asked where they are."""
