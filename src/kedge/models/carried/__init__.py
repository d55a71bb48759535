"""Weights that come inside packages, checked against known digests."""
