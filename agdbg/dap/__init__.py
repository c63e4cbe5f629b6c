"""The debug adapter: thin ways by which editors reach a hub, which does the work."""
