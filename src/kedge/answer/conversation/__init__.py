"""Follow-up questions: understood from the turns before."""
