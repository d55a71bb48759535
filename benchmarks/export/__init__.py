"""Writes the graphs that Kedge carries in `src/kedge/models/carried/data`, with the package `onnx`.

`graph` is a file being written, `encoder` the layers that both models have; `python -m benchmarks.export.e5` writes the
graph of the multilingual embedder, `python -m benchmarks.export.minilm` that of the default ones, and
`python -m benchmarks.reader.export` the reader.
"""
