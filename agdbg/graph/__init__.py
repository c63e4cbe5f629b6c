"""The graph as a thing to look at: its model, where it comes from, how it is folded and laid out."""
