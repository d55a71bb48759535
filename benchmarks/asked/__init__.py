"""Questions as people ask them, over the documentation of packages and over made reports, with what answers each."""
