"""A folder of real files of every format, and questions whose answers stand in them."""
