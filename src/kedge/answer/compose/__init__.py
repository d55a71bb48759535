"""What an answer or a refusal says without a language model."""
