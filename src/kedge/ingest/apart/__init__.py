"""Reads risky formats in a process of its own, with caps on time, memory and output.

A parser of PDF, HTML or Parquet is large, partly in C, and made to read what strangers send. What it reads here can
end its own process, not this one: the parent kills it when a cap is passed, believes nothing but plain JSON of it, and
goes on with the next file.
"""
