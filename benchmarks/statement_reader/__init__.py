"""A reader of statements: one small network that reads a question and the statements of a passage once.

It says whether the passage answers or is about something else, whether it only seems to answer, which statements carry
the answer, where the short answer stands, and yes or no. The reader that Kedge carries now (`benchmarks.reader`) gives
the first of these alone. `train` teaches it, `export` writes the ONNX file, and `probe` reads the passages that Kedge
finds for the real questions with it and says what an answer could be made of.
"""
