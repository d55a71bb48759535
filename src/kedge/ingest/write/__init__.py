"""What is written to the stores beside new passages: changes in place, and removal."""
