"""The reader: the model that reads a question and a passage together."""
