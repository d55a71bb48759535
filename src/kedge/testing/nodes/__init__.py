"""The contract of node stores."""
