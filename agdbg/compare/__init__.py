"""Two traces side by side: where two runs part."""
