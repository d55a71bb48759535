"""The contract of vector stores."""
