"""Calibration of the judge on open data: `python -m benchmarks.judge`."""
