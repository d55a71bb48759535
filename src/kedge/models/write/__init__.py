"""Language models: one module per provider, each behind the port in `models.ports`, all within `limits.py`."""
