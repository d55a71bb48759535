"""Graph stores: the concept graph that Kedge builds, and the graphs of users."""
