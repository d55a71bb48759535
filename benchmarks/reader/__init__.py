"""Trains the reader that Kedge carries: one small network that reads a question and the statements of a passage once.

It says whether the passage answers or is about something else, whether it only seems to answer, which statements carry
the answer, where the short answer stands, and yes or no. `base` packs the model to start from, `train` teaches it with
the examples of `prose`, `tables` and `made`, `export` writes the ONNX file, and `probe` reads the passages that Kedge
finds for the real questions and says what an answer could be made of. How it is done and what it reached:
benchmarks/README.md.
"""
