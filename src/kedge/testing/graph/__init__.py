"""The contract of graph stores."""
