"""The channels that find passages."""
