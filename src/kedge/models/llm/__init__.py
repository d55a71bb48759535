"""Language models: one module per provider, each behind the port in `models.base`, all within `limits.py`."""
