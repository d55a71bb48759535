"""Trains the reader that Kedge carries: does this passage answer this question?

`python -m benchmarks.reader --help`; what it needs and what it reached: benchmarks/README.md.
The data's way: `sources`, `lexicon` → `statements`, `cloze`, `spoil`, `keep` → `examples` → `tokens` → `training` →
`export`.
"""
