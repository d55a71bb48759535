"""Who runs jobs, and who may write at the same time: in one process, or in many over one PostgreSQL."""
