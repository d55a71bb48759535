"""Answers in a language model's words: its context, its sentences, and the check of each against the evidence."""
