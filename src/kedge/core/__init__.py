"""What all else is made of: values, errors, ids, settings, names of metrics; imports nothing else of Kedge."""
