"""The way out, second half: evidence is read, judged, composed into an answer and cited."""
