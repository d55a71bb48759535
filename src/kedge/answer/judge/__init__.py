"""Whether the evidence answers the question, as a calibrated probability."""
