"""Where the words of an answer stand in its sources."""
