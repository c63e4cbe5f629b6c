"""The panes of the terminal UI: plain data goes in, messages come out, none of them knows the protocol."""
