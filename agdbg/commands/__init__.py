"""The subcommands of ``agdbg``; each imports what does its work only when it runs."""
