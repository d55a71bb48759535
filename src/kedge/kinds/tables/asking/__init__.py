"""From a question to a plan: words, columns, values, periods, figures; no language model."""
