"""What the reader sees at once: sizes that training and use share."""

from __future__ import annotations

QUESTION_TOKENS, IDENTITY_TOKENS, WINDOW = 64, 40, 320
"""Most tokens of the question, of the identity, and of all together. Further statements get further windows."""
LONGEST_SPAN = 30
"""Most tokens of a short answer."""
CHAIN_QUESTION, CHAIN_TITLE, CHAIN_WINDOW = 80, 10, 512
"""The same for the chain reader: most tokens of the question, of a title, and of all together."""
