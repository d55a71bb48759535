"""What an answer costs in processor time, before and after a change: `python -m benchmarks.answer_cost`."""
