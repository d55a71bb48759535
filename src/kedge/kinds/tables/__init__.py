"""Tables: rows in a columnar engine, questions answered exactly or by retrieval (requirements T)."""
