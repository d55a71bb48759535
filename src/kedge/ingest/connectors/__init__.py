"""Places that a collection stays in step with, a module each: what is there, and the bytes of one entry."""
