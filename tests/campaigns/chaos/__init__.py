"""Chaos: random writes that are killed or lose their stores, readers that watch, and a look at what is left.

`python -m benchmarks.chaos --rounds 200 --stores embedded` · modules in the order of the data: `world` (documents whose
every sentence names its version), `ledger` (what may be seen), `plan` (what a round does), `places` (stores and their
URLs), `proxy` (a network that breaks), `victim` (the process that is killed), `readers`, `verify` and `leaks` (the
invariants), `rounds` (one after the other).
"""
