"""Sixty questions by name and number: codes, dates, quoted phrases, file names, sections, names with typing errors."""
