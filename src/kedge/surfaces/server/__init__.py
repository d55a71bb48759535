"""The HTTP API and the page, with what guards them."""
