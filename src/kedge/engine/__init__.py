"""The life of a home: the engine over its stores, jobs, upkeep, re-indexing, backups and the doctor."""
